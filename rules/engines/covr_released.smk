# Takes COVR's released files; gives the dataset, its paraphrases, and the scene tables: images alone.
for path in DATASET.parts.values():
    if not path.is_file() and str(path) not in DOWNLOADED:
        raise WorkflowError(
            f"{path} does not exist: download the dataset as https://github.com/benbogin/covr-dataset says, unpack it, "
            "and name its train.jsonl and val.jsonl under dataset in the config."
        )


rule read_questions:
    input:
        data(list(DATASET.parts.values())),
    output:
        dataset=f"{T}/dataset/questions.parquet",
        paraphrases=PARAPHRASES,
        rejects=f"{T}/dataset/rejects.parquet",
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        record=f"{T}/dataset/questions.parquet.prov.json",
    log:
        "logs/read_questions.log",
    benchmark:
        f"{JOBS}/read_questions.tsv"
    conda:
        "../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
    params:
        config=data(DATASET.files()),
        seed=CONFIG.seed,
        code=code_of("read_questions"),
    shell:
        f"python -m compvqa read-questions {T}/dataset --scenes {T}/scenes --testbed {CONFIG.testbed}" f"{STAGE}"


include: "covr/statistics.smk"


SHOWN["statistics"] = [rules.statistics.output.statistics]
