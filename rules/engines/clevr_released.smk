# CLEVR's question files: takes them, and templates by which their families are known; gives the dataset.
include: "clevr/templates.smk"


READ = f"{T}/questions/read"


rule read_clevr_questions:
    input:
        data(list(DATASET.files.values())),
    output:
        tables=[f"{READ}/{table}.parquet" for table in ("questions", "origins", "rejects")],
        info=f"{READ}/info.json",
        record=f"{READ}/questions.parquet.prov.json",
    log:
        "logs/read_clevr_questions.log",
    benchmark:
        f"{JOBS}/read_clevr_questions.tsv"
    conda:
        "../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60, 0.05),
    params:
        files=data(repeated("--file", [f"{side}={path}" for side, path in DATASET.files.items()])),
        asking=ASKING,
        asked=ASKING_DIGEST,
        code=code_of("read_clevr_questions"),
    shell:
        f"python -m compvqa clevr read-questions {READ} {{params.files:q}} {{params.asking:q}}"
        f" --source {CONFIG.sources[0].name} --testbed {CONFIG.testbed}{LOG}"


MADE = [f"{READ}/questions.parquet"]
LEFT = []


include: "clevr/gather.smk"
