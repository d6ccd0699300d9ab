# CLEVR's questions about single values (CLEVR-PRELIM): takes scene tables and templates; gives the dataset.
include: "clevr/templates.smk"


rule prelim_questions:
    input:
        scenes=SCENE_FILES,
    output:
        questions=temp(f"{T}/questions/made.parquet"),  # all of it is in the dataset
        dropped=temp(f"{T}/questions/left.parquet"),
        record=f"{T}/questions/made.parquet.prov.json",
    log:
        "logs/prelim_questions.log",
    benchmark:
        f"{JOBS}/prelim_questions.tsv"
    conda:
        "../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000, 3),
        runtime=minutes(20, 0.05),
    params:
        asking=ASKING,
        asked=ASKING_DIGEST,
        seed=CONFIG.seed,
        code=code_of("prelim_questions"),
    shell:
        f"python -m compvqa clevr prelim-questions {{output.questions:q}} --dropped {{output.dropped:q}}"
        f" --scenes {T}/scenes {{params.asking:q}} --testbed {CONFIG.testbed} --seed {{params.seed}}{LOG}"


MADE = [rules.prelim_questions.output.questions]
LEFT = [rules.prelim_questions.output.dropped]


include: "clevr/gather.smk"
