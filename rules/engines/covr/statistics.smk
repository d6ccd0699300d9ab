# Takes the dataset; gives counts of its questions.
rule statistics:
    input:
        dataset=f"{T}/dataset/questions.parquet",
    output:
        statistics=f"{T}/evaluation/statistics.parquet",
        record=f"{T}/evaluation/statistics.parquet.prov.json",
    log:
        "logs/statistics.log",
    benchmark:
        f"{JOBS}/statistics.tsv"
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000, 8),
        runtime=minutes(20, 0.03),
    params:
        code=code_of("statistics"),
    shell:
        "python -m compvqa statistics {output.statistics:q} --dataset {input.dataset:q}" f"{LOG}"
