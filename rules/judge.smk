# Takes what the chains with other filters left and the truth; gives what each filter is worth.
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
        config=data(as_json({"sample": CONFIG.judged.per_template})),
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
        "../envs/data.yaml"
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
                    "asked": min(CONFIG.candidates.per_key, CONFIG.related.tried),
                    "per_kind": CONFIG.judged.per_kind,
                    "related": CONFIG.related.model_dump(mode="json"),
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
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000),
        runtime=minutes(20),
    params:
        config=data(as_json({"arms": list(ARMS), **CONFIG.judged.intervals.model_dump(mode="json")})),
        questions=lambda wildcards, input: repeated("--questions", input.questions),
        seed=CONFIG.seed,
        code=code_of("filters"),
    shell:
        "python -m compvqa filters {output.filters:q} {params.questions:q} --distractors {input.distractors:q}"
        f"{STAGE}"
