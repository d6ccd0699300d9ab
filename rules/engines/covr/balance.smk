# Takes all candidate questions and their risks; gives the balanced dataset (App. C) with its train, dev and test parts.
rule balance:
    input:
        questions=f"{T}/{{arm}}questions/questions.parquet",
        risk=lambda wildcards: risks_of(wildcards.arm),
    output:
        dataset=f"{T}/{{arm}}dataset/questions.parquet",
        record=f"{T}/{{arm}}dataset/questions.parquet.prov.json",
    log:
        "logs/{arm}balance.log",
    benchmark:
        f"{JOBS}/{{arm}}balance.tsv"
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(6000, 2),
        runtime=minutes(30, 0.002),
    params:
        config=data(DATASET.section("balance")),
        risk=lambda wildcards: repeated("--risk", risks_of(wildcards.arm)),
        seed=CONFIG.seed,
        code=code_of("balance"),
    shell:
        "python -m compvqa balance {output.dataset:q} --questions {input.questions:q} {params.risk:q}" f"{STAGE}"
