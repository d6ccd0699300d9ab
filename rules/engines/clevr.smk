# CLEVR's questions: takes scene tables and templates; gives the dataset.
include: "clevr/templates.smk"


rule clevr_questions:
    input:
        scenes=SCENE_FILES,
    output:
        questions=temp(f"{T}/questions/shards/{{scatteritem}}.parquet"),  # all of it is in the dataset
        dropped=temp(f"{T}/questions/dropped/{{scatteritem}}.parquet"),
        record=f"{T}/questions/shards/{{scatteritem}}.parquet.prov.json",
    log:
        "logs/clevr_questions/{scatteritem}.log",
    benchmark:
        f"{JOBS}/clevr_questions-{{scatteritem}}.tsv"
    conda:
        "../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000, 10),
        runtime=minutes(120, 0.5),
    params:
        config=data(DATASET.section("questions")),
        asking=ASKING,
        asked=ASKING_DIGEST,
        seed=CONFIG.seed,
        code=code_of("clevr_questions"),
    shell:
        f"python -m compvqa clevr questions {{output.questions:q}} --dropped {{output.dropped:q}} --scenes {T}/scenes"
        f" {{params.asking:q}} --shard {{wildcards.scatteritem}} --testbed {CONFIG.testbed}{STAGE}"


MADE = gather.shards(rules.clevr_questions.output.questions)
LEFT = gather.shards(rules.clevr_questions.output.dropped)


include: "clevr/gather.smk"
