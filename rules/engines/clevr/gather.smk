# Takes questions of all shards (MADE, and LEFT: what they dropped), or those that were read; gives the dataset.
rule gather_clevr_questions:
    input:
        questions=MADE,
        dropped=LEFT,
    output:
        questions=f"{T}/dataset/questions.parquet",
        dropped=f"{T}/questions/dropped.parquet",
        record=f"{T}/dataset/questions.parquet.prov.json",
    log:
        "logs/gather_clevr_questions.log",
    benchmark:
        f"{JOBS}/gather_clevr_questions.tsv"
    priority: 1  # much waits for it: before pages
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(3000, 3),
        runtime=minutes(60, 0.01),
    params:
        config=data(as_json({"parts": DATASET.parts})),
        made=lambda wildcards, input: repeated("--shard", input.questions),
        dropped=lambda wildcards, input: repeated("--shard-dropped", input.dropped),
        seed=CONFIG.seed,
        code=code_of("gather_clevr_questions"),
    shell:
        "python -m compvqa clevr gather-questions {output.questions:q} --dropped {output.dropped:q} {params.made:q}"
        " {params.dropped:q}"
        f"{STAGE}"
