# Takes raw downloads, or the files of a world; gives the one set of scene tables and the lexicon.
if CONFIG.lexicon:

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
            source=data(CONFIG.lexicon.options()),
            code=code_of("lexicon"),
        shell:
            "python -m compvqa lexicon {output.lexicon:q} {params.source:q}" f"{LOG}"


rule ingest:
    input:
        raw=lambda wildcards: CONFIG.source(wildcards.source).files.values(),
        lexicon=LEXICON,
    output:
        tables=expand(f"{T}/sources/{{{{source}}}}/{{table}}.parquet", table=[*SCENE_TABLES, "rejects"]),
        record=f"{T}/sources/{{source}}/source.prov.json",
    log:
        "logs/ingest/{source}.log",
    benchmark:
        f"{JOBS}/ingest-{{source}}.tsv"
    wildcard_constraints:
        source="|".join(source.name for source in CONFIG.sources if source.name not in PLACED) or "none",
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000, 4),
        runtime=minutes(60, 0.005),
    params:
        config=lambda wildcards: CONFIG.source(wildcards.source).model_dump_json(),
        lexicon=repeated("--lexicon", LEXICON),
        seed=CONFIG.seed,
        code=lambda wildcards: stage_code("ingest", reader=CONFIG.source(wildcards.source).reader),
    shell:
        f"python -m compvqa ingest {T}/sources/{{wildcards.source:q}} {{params.lexicon:q}}{STAGE}"


use rule ingest as ingest_with_places with:
    output:
        tables=expand(f"{T}/sources/{{{{source}}}}/{{table}}.parquet", table=[*SCENE_TABLES, *PLACES, "rejects"]),
        record=f"{T}/sources/{{source}}/source.prov.json",
    wildcard_constraints:
        source="|".join(PLACED) or "none",


rule scenes:
    input:
        expand(
            f"{T}/sources/{{source}}/{{table}}.parquet",
            source=[source.name for source in CONFIG.sources],
            table=SCENE_TABLES,
        ),
        expand(f"{T}/sources/{{source}}/{{table}}.parquet", source=PLACED, table=PLACES),
    output:
        tables=SCENE_FILES,
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
