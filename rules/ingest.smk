# Takes raw downloads (or makes the sprites world); gives the one set of scene tables and the lexicon.
rule sprites:
    output:
        images=directory(f"{SPRITES}/images"),
        imsitu=expand(
            f"{SPRITES}/imsitu/{{file}}",
            file=["train.json", "dev.json", "imsitu_space.json", "generation_templates.tab"],
        ),
        truth=directory(f"{SPRITES}/truth"),
        aside=directory(f"{SPRITES}/aside"),
        annotated=expand(f"{SPRITES}/{{split}}_sceneGraphs.json", split=["train", "val"]),
        lexicon=f"{SPRITES}/lexicon.json",
        record=f"{SPRITES}/sprites.prov.json",
    log:
        "logs/sprites.log",
    benchmark:
        f"{JOBS}/sprites.tsv"
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    threads: 2
    resources:
        mem_mb=memory(2000),
        runtime=minutes(20),
    params:
        world=lambda wildcards, output: os.path.dirname(output.images),
        config=data(CONFIG.section("sprites")),
        seed=CONFIG.seed,
        code=code_of("sprites"),
    shell:
        f"python -m compvqa sprites {{params.world:q}}{STAGE}"


rule lexicon:
    input:
        data(CONFIG.lexicon.files()),
    output:
        lexicon=f"{T}/lexicon.json",
        record=f"{T}/lexicon.json.prov.json",
    log:
        "logs/lexicon.log",
    benchmark:
        f"{JOBS}/lexicon.tsv"
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    params:
        source=data(CONFIG.lexicon.option()),
        code=code_of("lexicon"),
    shell:
        "python -m compvqa lexicon {output.lexicon:q} {params.source:q}" f"{LOG}"


rule ingest:
    input:
        raw=lambda wildcards: CONFIG.source(wildcards.source).files.values(),
        lexicon=rules.lexicon.output.lexicon,
    output:
        tables=expand(f"{T}/sources/{{{{source}}}}/{{table}}.parquet", table=[*SCENE_TABLES, "rejects"]),
        record=f"{T}/sources/{{source}}/source.prov.json",
    log:
        "logs/ingest/{source}.log",
    benchmark:
        f"{JOBS}/ingest-{{source}}.tsv"
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000, 4),
        runtime=minutes(60, 0.005),
    params:
        config=lambda wildcards: CONFIG.source(wildcards.source).model_dump_json(),
        seed=CONFIG.seed,
        code=lambda wildcards: stage_code("ingest", reader=CONFIG.source(wildcards.source).reader),
    shell:
        f"python -m compvqa ingest {T}/sources/{{wildcards.source:q}} --lexicon {{input.lexicon:q}}{STAGE}"


rule scenes:
    input:
        expand(
            f"{T}/sources/{{source}}/{{table}}.parquet",
            source=[source.name for source in CONFIG.sources],
            table=SCENE_TABLES,
        ),
    output:
        tables=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        rejects=f"{T}/scenes/rejects.parquet",
        record=f"{T}/scenes/scenes.prov.json",
    log:
        "logs/scenes.log",
    benchmark:
        f"{JOBS}/scenes.tsv"
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000, 4),
        runtime=minutes(60, 0.005),
    params:
        sources=repeated("--source", [f"{T}/sources/{source.name}" for source in CONFIG.sources]),
        code=code_of("scenes"),
    shell:
        f"python -m compvqa scenes {T}/scenes {{params.sources:q}}{LOG}"
