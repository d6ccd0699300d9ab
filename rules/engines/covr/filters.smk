# Takes scene tables, the lexicon, trained word filters and candidates; gives the overlap of names and presence of subgraphs in images.
rule overlap:
    input:
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        lexicon=rules.lexicon.output.lexicon,
        filters=lambda wildcards: word_filters(learned_words(wildcards.arm)),
        released=rules.word_released.output.pairs if DATASET.overlap.released else [],
    output:
        overlap=f"{T}/{{arm}}overlap/overlap.parquet",
        shares=f"{T}/{{arm}}overlap/shares.parquet",
        record=f"{T}/{{arm}}overlap/overlap.parquet.prov.json",
    log:
        "logs/{arm}overlap.log",
    benchmark:
        f"{JOBS}/{{arm}}overlap.tsv"
    priority: 1  # much waits for it: before pages
    conda:
        f"../../../envs/{family('overlap')}.yaml"
    container:
        CONTAINERS[family("overlap")]
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
        gpu=lambda wildcards: ONE_GPU if learned_words(wildcards.arm) else 0,
    params:
        config=lambda wildcards: filter_settings("overlap", wildcards.arm),
        models=lambda wildcards, input: ["--models", f"{T}/words"] if input.filters else [],
        released=lambda wildcards, input: repeated("--released", [input.released] if input.released else []),
        seed=CONFIG.seed,
        code=lambda wildcards: stage_code("overlap", method=sorted({*word_methods(wildcards.arm).values()})),
    shell:
        f"python -m compvqa overlap {{output.overlap:q}} --scenes {T}/scenes --lexicon {{input.lexicon:q}}"
        f" --shares {{output.shares:q}} {{params.models:q}} {{params.released:q}}{STAGE}"


rule presence:
    input:
        seeds=lambda wildcards: found("seeds", wildcards),
        candidates=lambda wildcards: found("candidates", wildcards),
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        models=lambda wildcards: presence_inputs(wildcards.arm),
    output:
        presence=f"{T}/{{arm}}filters/presence/{{scatteritem}}.parquet",
        record=f"{T}/{{arm}}filters/presence/{{scatteritem}}.parquet.prov.json",
    log:
        "logs/{arm}presence/{scatteritem}.log",
    benchmark:
        f"{JOBS}/{{arm}}presence-{{scatteritem}}.tsv"
    conda:
        f"../../../envs/{family('presence')}.yaml"
    container:
        CONTAINERS[family("presence")]
    resources:
        mem_mb=memory(3000),
        runtime=minutes(240),
        gpu=lambda wildcards: presence_gpus(wildcards.arm),
    params:
        config=lambda wildcards: presence_settings(wildcards.arm),
        models=lambda wildcards: presence_options(wildcards.arm),
        seed=CONFIG.seed,
        code=lambda wildcards: presence_code("presence", wildcards.arm),
    shell:
        "python -m compvqa presence {output.presence:q} --seeds {input.seeds:q} --candidates {input.candidates:q}"
        f" --scenes {T}/scenes {{params.models:q}}{STAGE}"
