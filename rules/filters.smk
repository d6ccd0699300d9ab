# Takes scene tables, the lexicon, trained word filters and candidates; gives the overlap of names and presence of subgraphs in images.
rule overlap:
    input:
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        lexicon=rules.lexicon.output.lexicon,
        filters=WORD_FILTERS if CONFIG.overlap.method == "learned" else [],
    output:
        overlap=f"{T}/overlap/overlap.parquet",
        record=f"{T}/overlap/overlap.parquet.prov.json",
    log:
        "logs/overlap.log",
    benchmark:
        "benchmarks/jobs/overlap.tsv"
    conda:
        "../envs/models.yaml" if CONFIG.overlap.method == "learned" else "../envs/data.yaml"
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
        gpu=CONFIG.models.gpus if CONFIG.overlap.method == "learned" else 0,
    params:
        config=CONFIG.section("overlap"),
        models=f"--models {T}/words" if CONFIG.overlap.method == "learned" else "",
        seed=CONFIG.seed,
        code=stage_code("overlap", method=CONFIG.overlap.method),
    shell:
        f"python -m compvqa overlap {{output.overlap}} --scenes {T}/scenes --lexicon {{input.lexicon}}"
        f" {{params.models}}{STAGE}"


rule presence:
    input:
        seeds=f"{T}/graphs/seeds/{{scatteritem}}.parquet",
        candidates=f"{T}/graphs/candidates/{{scatteritem}}.parquet",
    output:
        presence=f"{T}/filters/presence/{{scatteritem}}.parquet",
        record=f"{T}/filters/presence/{{scatteritem}}.parquet.prov.json",
    log:
        "logs/presence/{scatteritem}.log",
    benchmark:
        "benchmarks/jobs/presence-{scatteritem}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=memory(2000),
        runtime=minutes(60),
    params:
        config=CONFIG.section("presence"),
        seed=CONFIG.seed,
        code=stage_code("presence", method=CONFIG.presence.method),
    shell:
        "python -m compvqa presence {output.presence} --seeds {input.seeds} --candidates {input.candidates}" f"{STAGE}"
