# Takes people's paraphrases and the dataset; gives the table of those of its questions.
rule read_paraphrases:
    input:
        file=data(CONFIG.paraphrases),
        dataset=f"{T}/dataset/questions.parquet",
    output:
        paraphrases=PARAPHRASES,
        record=f"{T}/dataset/paraphrases.parquet.prov.json",
    log:
        "logs/paraphrases.log",
    benchmark:
        f"{JOBS}/paraphrases.tsv"
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000),
        runtime=minutes(10),
    params:
        code=code_of("read_paraphrases"),
    shell:
        "python -m compvqa read-paraphrases {output.paraphrases:q} --file={input.file:q} --dataset {input.dataset:q}"
        f"{LOG}"
