# Takes the dataset, what the chains with other filters left, and the truth; gives the share of invalid questions and what
# each filter is worth.
rule validity:
    input:
        dataset=f"{T}/dataset/questions.parquet",
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        truth=data(CONFIG.truth or []),
        lexicon=LEXICON,
    output:
        validity=f"{T}/evaluation/validity.parquet",
        record=f"{T}/evaluation/validity.parquet.prov.json",
    log:
        "logs/validity.log",
    benchmark:
        f"{JOBS}/validity.tsv"
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
    params:
        config=data(DATASET.section("validity")),
        seed=CONFIG.seed,
        code=code_of("validity"),
    shell:
        f"python -m compvqa validity {{output.validity:q}} --dataset {{input.dataset:q}} --scenes {T}/scenes"
        f" --truth {{input.truth:q}} --lexicon {{input.lexicon:q}}{STAGE}"


use rule validity as generated_validity with:
    input:
        dataset=f"{T}/{{arm}}questions/questions.parquet",
        scenes=rules.validity.input.scenes,
        truth=rules.validity.input.truth,
        lexicon=rules.validity.input.lexicon,
    output:
        validity=f"{T}/{{arm}}evaluation/generated.parquet",
        record=f"{T}/{{arm}}evaluation/generated.parquet.prov.json",
    log:
        "logs/{arm}generated_validity.log",
    benchmark:
        f"{JOBS}/{{arm}}generated_validity.tsv"
    params:
        config=data(as_json({"sample": DATASET.judged.per_template})),
        seed=CONFIG.seed,
        code=code_of("validity"),


rule distractors:
    input:
        seeds=gather.shards(f"{T}/{searched(f'arms/{NO_FILTERS}/')}graphs/seeds/{{scatteritem}}.parquet"),
        candidates=[
            path
            for arm in ARMS.values()
            for path in gather.shards(f"{T}/{searched(arm)}graphs/candidates/{{scatteritem}}.parquet")
        ],
        presence=[path for arm in ARMS.values() for path in gather.shards(rules.presence.output.presence, arm=arm)],
        scenes=rules.validity.input.scenes,
        truth=rules.validity.input.truth,
        lexicon=rules.lexicon.output.lexicon,
        thresholds=thresholds_of(""),
    output:
        distractors=f"{T}/evaluation/distractors.parquet",
        record=f"{T}/evaluation/distractors.parquet.prov.json",
    log:
        "logs/distractors.log",
    benchmark:
        f"{JOBS}/distractors.tsv"
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
    params:
        config=data(
            as_json(
                {
                    "arms": list(ARMS),
                    "asked": min(DATASET.candidates.per_key, DATASET.related.tried),
                    "per_kind": DATASET.judged.per_kind,
                    "related": DATASET.related.model_dump(mode="json"),
                }
            )
        ),
        candidates=repeated("--candidates", [f"{T}/{searched(arm)}graphs/candidates" for arm in ARMS.values()]),
        presence=repeated("--presence", [f"{T}/{arm}filters/presence" for arm in ARMS.values()]),
        thresholds=repeated("--thresholds", thresholds_of("")),
        seed=CONFIG.seed,
        code=code_of("distractors"),
    shell:
        f"python -m compvqa distractors {{output.distractors:q}} --seeds $(dirname {{input.seeds[0]:q}})"
        f" {{params.candidates:q}} {{params.presence:q}} {{params.thresholds:q}} --scenes {T}/scenes"
        f" --truth {{input.truth:q}} --lexicon {{input.lexicon:q}}{STAGE}"


rule filters:
    input:
        questions=expand(rules.generated_validity.output.validity, arm=ARMS.values()),
        distractors=rules.distractors.output.distractors,
    output:
        filters=f"{T}/evaluation/filters.parquet",
        record=f"{T}/evaluation/filters.parquet.prov.json",
    log:
        "logs/filters.log",
    benchmark:
        f"{JOBS}/filters.tsv"
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000),
        runtime=minutes(20),
    params:
        config=data(as_json({"arms": list(ARMS), **DATASET.judged.intervals.model_dump(mode="json")})),
        questions=lambda wildcards, input: repeated("--questions", input.questions),
        seed=CONFIG.seed,
        code=code_of("filters"),
    shell:
        "python -m compvqa filters {output.filters:q} {params.questions:q} --distractors {input.distractors:q}"
        f"{STAGE}"
