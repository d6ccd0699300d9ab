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
        "benchmarks/jobs/subgraphs-{scatteritem}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
    params:
        config=CONFIG.section("subgraphs"),
        seed=CONFIG.seed,
        code=stage_code("subgraphs"),
    shell:
        f"python -m compvqa subgraphs --scenes {T}/scenes --shard {{wildcards.scatteritem}}"
        f" --subgraphs {{output.subgraphs}} --occurrences {{output.occurrences}}{STAGE}"


# One job, since every seed meets the subgraphs of all scenes; it works in parts, so that its memory is bounded.
rule candidates:
    input:
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        subgraphs=gather.shards(f"{T}/graphs/subgraphs/{{scatteritem}}.parquet"),
        occurrences=gather.shards(f"{T}/graphs/occurrences/{{scatteritem}}.parquet"),
        overlap=f"{T}/overlap/overlap.parquet",
    output:
        seeds=scatter.shards(f"{T}/graphs/seeds/{{scatteritem}}.parquet"),
        candidates=scatter.shards(f"{T}/graphs/candidates/{{scatteritem}}.parquet"),
        record=f"{T}/graphs/candidates/candidates.prov.json",
    log:
        "logs/candidates.log",
    benchmark:
        "benchmarks/jobs/candidates.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=memory(6000),
        runtime=minutes(240),
    params:
        config=CONFIG.section("candidates"),
        seed=CONFIG.seed,
        code=stage_code("candidates", backend=CONFIG.candidates.backend),
        shards=CONFIG.shards,
    shell:
        f"python -m compvqa candidates --scenes {T}/scenes --graphs {T}/graphs --overlap {{input.overlap}}"
        f" --shards {{params.shards}} --seeds {T}/graphs/seeds --candidates {T}/graphs/candidates{STAGE}"


rule related:
    input:
        seeds=f"{T}/graphs/seeds/{{scatteritem}}.parquet",
        candidates=f"{T}/graphs/candidates/{{scatteritem}}.parquet",
        presence=f"{T}/filters/presence/{{scatteritem}}.parquet",
        thresholds=f"{T}/filters/images/thresholds.json" if CONFIG.presence.calibrated else [],
    output:
        related=f"{T}/graphs/related/{{scatteritem}}.parquet",
        record=f"{T}/graphs/related/{{scatteritem}}.parquet.prov.json",
    log:
        "logs/related/{scatteritem}.log",
    benchmark:
        "benchmarks/jobs/related-{scatteritem}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
    params:
        config=CONFIG.section("related"),
        seed=CONFIG.seed,
        code=stage_code("related"),
        thresholds=f"--thresholds {T}/filters/images/thresholds.json" if CONFIG.presence.calibrated else "",
    shell:
        "python -m compvqa related --seeds {input.seeds} --candidates {input.candidates}"
        " --presence {input.presence} {params.thresholds} --related {output.related}"
        f"{STAGE}"
