# Takes all candidate questions; gives the balanced dataset (App. C) with its train, dev and test parts.
rule balance:
    input:
        questions=f"{T}/questions/questions.parquet",
    output:
        dataset=f"{T}/dataset/questions.parquet",
        record=f"{T}/dataset/questions.parquet.prov.json",
    log:
        "logs/balance.log",
    benchmark:
        "benchmarks/jobs/balance.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=memory(6000),
        runtime=minutes(30),
    params:
        config=CONFIG.section("balance"),
        seed=CONFIG.seed,
        code=stage_code("balance"),
    shell:
        "python -m compvqa balance {output.dataset} --questions {input.questions}" f"{STAGE}"
