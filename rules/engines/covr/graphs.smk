# Takes scene tables, overlap and presence; gives subgraphs, seeds, candidate images and related images.
rule subgraphs:
    input:
        expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
    output:
        subgraphs=f"{T}/graphs/subgraphs/{{scatteritem}}.parquet",
        occurrences=f"{T}/graphs/occurrences/{{scatteritem}}.parquet",
        record=f"{T}/graphs/subgraphs/{{scatteritem}}.parquet.prov.json",
    log:
        "logs/subgraphs/{scatteritem}.log",
    benchmark:
        f"{JOBS}/subgraphs-{{scatteritem}}.tsv"
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
    params:
        config=data(DATASET.section("subgraphs")),
        seed=CONFIG.seed,
        code=code_of("subgraphs"),
    shell:
        f"python -m compvqa subgraphs --scenes {T}/scenes --shard {{wildcards.scatteritem:q}}"
        f" --subgraphs {{output.subgraphs:q}} --occurrences {{output.occurrences:q}}{STAGE}"


# One job, since every seed meets the subgraphs of all scenes; it works in parts, so that its memory is bounded.
rule candidates:
    input:
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        subgraphs=gather.shards(f"{T}/graphs/subgraphs/{{scatteritem}}.parquet"),
        occurrences=gather.shards(f"{T}/graphs/occurrences/{{scatteritem}}.parquet"),
        overlap=f"{T}/{{arm}}overlap/overlap.parquet",
        # a server that the job starts itself is gone after it, with its store: there the job loads the graph
        loaded=(
            [f"{T}/graphs/neo4j.json"] if DATASET.candidates.backend == "neo4j" and not DATASET.neo4j.command else []
        ),
    output:
        seeds=scatter.shards(f"{T}/{{arm}}graphs/seeds/{{scatteritem}}.parquet", allow_missing=True),
        candidates=scatter.shards(f"{T}/{{arm}}graphs/candidates/{{scatteritem}}.parquet", allow_missing=True),
        record=f"{T}/{{arm}}graphs/candidates/candidates.prov.json",
    log:
        "logs/{arm}candidates.log",
    benchmark:
        f"{JOBS}/{{arm}}candidates.tsv"
    priority: 1  # much waits for it: before pages
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["graph"]
    resources:
        mem_mb=memory(6000),
        runtime=minutes(240, 0.03),
    params:
        config=data(DATASET.search()),
        seed=CONFIG.seed,
        code=code_of("candidates", backend=DATASET.candidates.backend),
        shards=CONFIG.shards,
    shell:
        f"COMPVQA_MEM_MB={{resources.mem_mb:q}} python -m compvqa candidates --scenes {T}/scenes --graphs {T}/graphs"
        f" --overlap {{input.overlap:q}} --shards {{params.shards:q}} --seeds {T}/{{wildcards.arm:q}}graphs/seeds"
        f" --candidates {T}/{{wildcards.arm:q}}graphs/candidates{STAGE}"


rule related:
    input:
        seeds=lambda wildcards: found("seeds", wildcards),
        candidates=lambda wildcards: found("candidates", wildcards),
        presence=f"{T}/{{arm}}filters/presence/{{scatteritem}}.parquet",
        thresholds=lambda wildcards: thresholds_of(wildcards.arm),
    output:
        related=f"{T}/{{arm}}graphs/related/{{scatteritem}}.parquet",
        record=f"{T}/{{arm}}graphs/related/{{scatteritem}}.parquet.prov.json",
    log:
        "logs/{arm}related/{scatteritem}.log",
    benchmark:
        f"{JOBS}/{{arm}}related-{{scatteritem}}.tsv"
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(3000, 10),
        runtime=minutes(60, 0.005),
    params:
        config=data(DATASET.section("related")),
        seed=CONFIG.seed,
        code=code_of("related"),
        thresholds=lambda wildcards: repeated("--thresholds", thresholds_of(wildcards.arm)),
    shell:
        "python -m compvqa related --seeds {input.seeds:q} --candidates {input.candidates:q}"
        " --presence {input.presence:q} {params.thresholds:q} --related {output.related:q}"
        f"{STAGE}"
