# Takes all candidate questions, what the folds' models saw, and images apart from all folds; gives the risk of each question.
rule risk:
    input:
        questions=f"{T}/{{arm}}questions/questions.parquet",
        presence=gather.shards(f"{T}/filters/presence/{{scatteritem}}.parquet"),
        others=gather.shards(f"{T}/filters/others/{{scatteritem}}.parquet"),
        apart=expand(f"{T}/aside/calibration/{{table}}/1-of-1.parquet", table=["seeds", "candidates"]),
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        aside=data(CONFIG.aside or []),
        lexicon=LEXICON,
        models=presence_inputs(),
    output:
        risk=f"{T}/{{arm}}risk/risk.parquet",
        labelled=f"{T}/{{arm}}risk/labelled.parquet",
        record=f"{T}/{{arm}}risk/risk.parquet.prov.json",
    log:
        "logs/{arm}risk.log",
    benchmark:
        f"{JOBS}/{{arm}}risk.tsv"
    conda:
        f"../../../envs/{family('presence')}.yaml"
    container:
        CONTAINERS[family("presence")]
    resources:
        mem_mb=memory(3000, 20, of=["questions"]),
        runtime=minutes(240),
        gpu=presence_gpus(),
    params:
        config=data(presence_settings(**DATASET.risk.model_dump(mode="json"))),
        models=presence_options(),
        seed=CONFIG.seed,
        code=presence_code("risk"),
    shell:
        "python -m compvqa risk {output.risk:q} {output.labelled:q} --questions {input.questions:q}"
        f" --presence {T}/filters/presence --others {T}/filters/others"
        f" --apart {T}/aside/calibration --aside {{input.aside:q}}/calibration --scenes {T}/scenes"
        f" --lexicon {{input.lexicon:q}} {{params.models:q}}{STAGE}"
