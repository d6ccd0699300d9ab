# CLEVR's questions for held-out pairs (CLEVR-HOPE): takes scene tables, templates and the pairs that the config's splits
# name; gives for each a dataset of its own, in the chain that its split divides.


include: "clevr/templates.smk"
include: "clevr/pairs.smk"


C = f"{T}/{{chain}}"


wildcard_constraints:
    chain="|".join(map(re.escape, CHAINS)) or "none",


scattergather:
    pair=DATASET.shards,


SHOWN["words"] = [WORDS]


rule pair_scenes:
    input:
        scenes=SCENE_FILES,
    output:
        taken=f"{C}/scenes.parquet",
        record=f"{C}/scenes.parquet.prov.json",
    log:
        "logs/{chain}/scenes.log",
    benchmark:
        f"{JOBS}/{{chain}}/pair_scenes.tsv"
    priority: 1  # much waits for it: before pages
    conda:
        "../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2500, 2),
        runtime=minutes(20, 0.05),
    params:
        config=pair_settings,
        words=f"--words={near(WORDS)}",
        asked=ASKING_DIGEST,
        code=code_of("pair_scenes"),
    shell:
        f"python -m compvqa clevr pair-scenes {{output.taken:q}} --scenes {T}/scenes {{params.words:q}}"
        f" --config {{params.config:q}}{LOG}"


rule pair_questions:
    input:
        taken=rules.pair_scenes.output.taken,
        scenes=SCENE_FILES,
    output:
        questions=temp(f"{C}/questions/{{scatteritem}}.parquet"),  # all that counts of it is in the dataset
        dropped=f"{C}/dropped/{{scatteritem}}.parquet",
        record=f"{C}/questions/{{scatteritem}}.parquet.prov.json",
    log:
        "logs/{chain}/questions-{scatteritem}.log",
    benchmark:
        f"{JOBS}/{{chain}}/pair_questions-{{scatteritem}}.tsv"
    priority: 1  # much waits for it: before pages
    conda:
        "../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2500, 10),
        runtime=minutes(60, 0.5),
    params:
        config=pair_settings,
        sets=lambda wildcards: repeated("--set", sets_in(wildcards)),
        asking=ASKING,
        asked=ASKING_DIGEST,
        seed=CONFIG.seed,
        code=code_of("pair_questions"),
    shell:
        f"python -m compvqa clevr pair-questions {{output.questions:q}} {{params.sets:q}}"
        f" --dropped {{output.dropped:q}} --taken {{input.taken:q}} --scenes {T}/scenes {{params.asking:q}}"
        f" --shard {{wildcards.scatteritem}} --testbed {CONFIG.testbed}{STAGE}"


rule gather_pair:
    input:
        questions=gather.pair(f"{C}/questions/{{scatteritem}}.parquet", allow_missing=True),
        scenes=SCENE_FILES,
    output:
        questions=f"{C}/dataset/questions.parquet",
        record=f"{C}/dataset/questions.parquet.prov.json",
    log:
        "logs/{chain}/gather_pair.log",
    benchmark:
        f"{JOBS}/{{chain}}/gather_pair.tsv"
    priority: 1  # much waits for it: before pages
    conda:
        "../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(4000, 3),
        runtime=minutes(60, 0.05),
    params:
        config=pair_settings,
        made=lambda wildcards, input: repeated("--questions", input.questions),
        code=code_of("gather_pair"),
    shell:
        f"python -m compvqa clevr gather-pair {{output.questions:q}} {{params.made:q}} --scenes {T}/scenes"
        f" --config {{params.config:q}}{LOG}"
