# Takes scene tables, the lexicon and candidates; gives the overlap of names and presence of subgraphs in images.
rule overlap:
    input:
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        lexicon=rules.lexicon.output.lexicon,
    output:
        overlap=f"{T}/overlap/overlap.parquet",
        record=f"{T}/overlap/overlap.parquet.prov.json",
    log:
        "logs/overlap.log",
    benchmark:
        "benchmarks/jobs/overlap.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        config=CONFIG.section("overlap"),
        seed=CONFIG.seed,
        code=stage_code("overlap", method=CONFIG.overlap.method),
    shell:
        f"python -m compvqa overlap {{output.overlap}} --scenes {T}/scenes --lexicon {{input.lexicon}}{STAGE}"


rule presence:
    input:
        seeds=f"{T}/graphs/seeds/{{scatteritem}}.parquet",
        candidates=f"{T}/graphs/candidates/{{scatteritem}}.parquet",
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        models=presence_inputs(),
    output:
        presence=f"{T}/filters/presence/{{scatteritem}}.parquet",
        record=f"{T}/filters/presence/{{scatteritem}}.parquet.prov.json",
    log:
        "logs/presence/{scatteritem}.log",
    benchmark:
        "benchmarks/jobs/presence-{scatteritem}.tsv"
    conda:
        PRESENCE_ENV
    resources:
        mem_mb=memory(3000),
        runtime=minutes(240),
        gpu=presence_gpus(),
    params:
        config=presence_settings(),
        models=presence_options(),
        seed=CONFIG.seed,
        code=stage_code("presence", method=CONFIG.presence.method, models=presence_models()),
    shell:
        "python -m compvqa presence {output.presence} --seeds {input.seeds} --candidates {input.candidates}"
        f" --scenes {T}/scenes {{params.models}}{STAGE}"
