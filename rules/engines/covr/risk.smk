# Takes a shard's candidate questions, what the folds' models saw, and images apart from all folds; gives the risk of each
# question.
rule risk_labels:
    input:
        apart=expand(f"{T}/aside/calibration/{{table}}/1-of-1.parquet", table=["seeds", "candidates"]),
        aside=data(CONFIG.aside or []),
        lexicon=LEXICON,
        models=presence_inputs(),
    output:
        labelled=f"{IMAGES}/risk_labels.parquet",
        record=f"{IMAGES}/risk_labels.parquet.prov.json",
    log:
        "logs/risk_labels.log",
    benchmark:
        f"{JOBS}/risk_labels.tsv"
    conda:
        f"../../../envs/{family('presence')}.yaml"
    container:
        CONTAINERS[family("presence")]
    resources:
        mem_mb=memory(3000),
        runtime=minutes(240),
        gpu=presence_gpus(),
    params:
        config=data(presence_settings(**DATASET.risk.model_dump(mode="json"))),
        models=presence_options(),
        seed=CONFIG.seed,
        code=presence_code("risk_labels"),
    shell:
        f"python -m compvqa risk-labels {{output.labelled:q}} --apart {T}/aside/calibration"
        f" --aside {{input.aside:q}}/calibration --lexicon {{input.lexicon:q}} {{params.models:q}}{STAGE}"


rule risk:
    input:
        questions=f"{T}/{{arm}}questions/shards/{{scatteritem}}.parquet",
        labelled=rules.risk_labels.output.labelled,
        presence=[f"{T}/filters/{table}/{{scatteritem}}.parquet" for table in ("presence", "others")],
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        models=presence_inputs(),
    output:
        risk=f"{T}/{{arm}}risk/{{scatteritem}}.parquet",
        record=f"{T}/{{arm}}risk/{{scatteritem}}.parquet.prov.json",
    log:
        "logs/{arm}risk/{scatteritem}.log",
    benchmark:
        f"{JOBS}/{{arm}}risk-{{scatteritem}}.tsv"
    conda:
        f"../../../envs/{family('presence')}.yaml"
    container:
        CONTAINERS[family("presence")]
    resources:
        mem_mb=memory(3000, 20, of=["questions"]),
        runtime=minutes(240),
        gpu=presence_gpus(),
    params:
        config=data(presence_settings()),
        presence=lambda wildcards, input: repeated("--presence", input.presence),
        models=presence_options(),
        code=presence_code("risk"),
    shell:
        "python -m compvqa risk {output.risk:q} --questions {input.questions:q} --labelled {input.labelled:q}"
        f" --scenes {T}/scenes {{params.presence:q}} {{params.models:q}}"
        f" --config {{params.config:q}}{LOG}"
