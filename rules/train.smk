# Takes the dataset, splits and features; gives trained models and the answers of all models.
# A run is <model>.<split>.<variant>.<seed>. The split's setup (workflow/compvqa/splits/setups) says its variants: the
# parts that each is fitted on, those by which its weights are kept, and what it changes.
RUNS = [
    f"{model}.{split}.{variant}.{seed}"
    for model in CONFIG.models.trained
    for split in dict.fromkeys([*[IID] * HAS_MAIN, *trained_on(model), *CONFIG.models.curve.splits])
    for variant in variants(model, split)
    for seed in seeds(model, split)
]
TAKEN = [model for model in CONFIG.models.trained if fine_tuned(model)]
TRAINED = [run for run in RUNS if run.split(".")[0] not in TAKEN]
SEEN = {pair: seen_of(*pair) for pair in dict.fromkeys(tuple(run.split(".")[:2]) for run in RUNS)}
PROCESSES = max(1, CONFIG.models.gpus)  # that share the training of a question model, one a GPU
# A baseline answers what it is asked in the main chain at once; in another, split by split, from what its runs train on.
BASELINES = [
    f"{model}.{split}.{variant}.{CONFIG.seed}"
    for model in CONFIG.models.baselines
    for split in [*[IID] * HAS_MAIN, *[name for name in ANSWERED if CHAIN_OF[name]]]
    for variant in untrained(split)
]


wildcard_constraints:
    model="[a-z0-9_-]+",
    split="[a-z0-9-]+",
    variant="[a-z]+[0-9]*",
    m="[0-9]+",
    run_seed="[0-9]+",


# The guard, before training: images that a model's encoder or pretraining saw, and what of the split's property it asked.
rule seen_before:
    input:
        dataset=lambda wildcards: dataset_of(wildcards.split),
        split=f"{T}/splits/{{split}}.parquet",
        scenes=f"{T}/scenes/scenes.parquet",
        lexicon=LEXICON,
        saw=lambda wildcards: saw_of(wildcards.model),
        asked=lambda wildcards: asked_of(wildcards.model),
    output:
        seen=f"{T}/seen_before/{{model}}.{{split}}.parquet",
        record=f"{T}/seen_before/{{model}}.{{split}}.parquet.prov.json",
    log:
        "logs/seen_before/{model}.{split}.log",
    benchmark:
        f"{JOBS}/seen_before-{{model}}.{{split}}.tsv"
    priority: 1  # much waits for it: before pages
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000, 8, of=["dataset", "scenes"]),
        runtime=minutes(10, 0.02, of=["dataset", "scenes"]),
    params:
        config=lambda wildcards: as_json(
            {"definition": SPLITS.load(wildcards.split), "seen_before": CONFIG.models.seen_before}
        ),
        lexicon=repeated("--lexicon", LEXICON),
        saw=lambda wildcards: repeated("--saw", saw_of(wildcards.model)),
        asked=lambda wildcards: repeated("--asked", asked_of(wildcards.model)),
        seed=CONFIG.seed,
        code=lambda wildcards: stage_code("seen_before", language=LANGUAGE, setup=setup_module(wildcards.split)),
    shell:
        "python -m compvqa seen-before {output.seen:q} --model {wildcards.model:q} --dataset {input.dataset:q}"
        " --split {input.split:q} --scenes {input.scenes:q} {params.lexicon:q} {params.saw:q} {params.asked:q}"
        f"{STAGE}"


rule train:
    input:
        guard=ancient(lambda wildcards: seen_of(wildcards.model, wildcards.split)),
        dataset=lambda wildcards: dataset_of(wildcards.split, wildcards.variant),
        split=lambda wildcards: split_of(wildcards.split, wildcards.variant),
        scenes=f"{T}/scenes/scenes.parquet",
        features=lambda wildcards: features_of(wildcards.model),
        start=lambda wildcards: start_of(wildcards.model),
        checkpoint=lambda wildcards: checkpoint_of(wildcards.model),
    output:
        weights=f"{T}/runs/{{model}}.{{split}}.{{variant}}.{{run_seed}}/model.safetensors",
        model=f"{T}/runs/{{model}}.{{split}}.{{variant}}.{{run_seed}}/model.json",
        history=f"{T}/runs/{{model}}.{{split}}.{{variant}}.{{run_seed}}/history.parquet",
        record=f"{T}/runs/{{model}}.{{split}}.{{variant}}.{{run_seed}}/model.safetensors.prov.json",
    log:
        "logs/train/{model}.{split}.{variant}.{run_seed}.log",
    benchmark:
        f"{JOBS}/train-{{model}}.{{split}}.{{variant}}.{{run_seed}}.tsv"
    # Long, and much waits for it; the models that are named last first, so that none is left at the end alone
    priority: lambda wildcards: 2 + [*CONFIG.models.trained, wildcards.model].index(wildcards.model)
    conda:
        "../envs/models.yaml"
    container:
        CONTAINERS["models"]
    threads: CONFIG.models.cpus
    resources:
        mem_mb=memory(4000 * PROCESSES),
        runtime=minutes(240),
        gpu=CONFIG.models.gpus,
    params:
        config=lambda wildcards: model_settings(
            wildcards.model, "training", **setup_of(wildcards.split).variant(wildcards.variant).model
        ),
        split=lambda wildcards, input: repeated("--split", [input.split] if input.split else []),
        parts=lambda wildcards: repeated("--part", setup_of(wildcards.split).variant(wildcards.variant).fit)
        + repeated("--dev-part", setup_of(wildcards.split).variant(wildcards.variant).choose),
        asked=lambda wildcards, input: repeated(
            "--asked-part", setup_of(wildcards.split).predicted if input.split else []
        ),
        start=lambda wildcards, input: repeated("--start", map(os.path.dirname, input.start)),
        features=lambda wildcards: features_folder(wildcards.model),
        processes=PROCESSES,
        seed=lambda wildcards: wildcards.run_seed,
        code=lambda wildcards: stage_code("train", model=module_of(wildcards.model)),
    shell:
        f"python -m compvqa train $(dirname {{output.weights:q}}) --dataset {{input.dataset:q}}"
        f" {{params.split:q}} {{params.parts:q}} {{params.asked:q}} --scenes {T}/scenes {{params.features:q}}"
        f" {{params.start:q}} --processes {{params.processes:q}}{STAGE}"


if TAKEN:

    ruleorder: take_weights > train

    rule take_weights:
        input:
            dataset=dataset_of(IID, IID),
            features=lambda wildcards: features_of(wildcards.model),
            checkpoint=lambda wildcards: checkpoint_of(wildcards.model),
        output:
            weights=f"{T}/runs/{{model}}.{IID}.{IID}.{{run_seed}}/model.safetensors",
            model=f"{T}/runs/{{model}}.{IID}.{IID}.{{run_seed}}/model.json",
            record=f"{T}/runs/{{model}}.{IID}.{IID}.{{run_seed}}/model.safetensors.prov.json",
        log:
            f"logs/take_weights/{{model}}.{IID}.{IID}.{{run_seed}}.log",
        benchmark:
            f"{JOBS}/take_weights-{{model}}.{IID}.{IID}.{{run_seed}}.tsv"
        wildcard_constraints:
            model="|".join(TAKEN) or "none",
        conda:
            "../envs/models.yaml"
        container:
            CONTAINERS["models"]
        resources:
            mem_mb=memory(8000),
            runtime=minutes(20),
        params:
            config=lambda wildcards: model_settings(wildcards.model, "training"),
            parts=repeated("--part", learnt_by(IID, IID)),
            features=lambda wildcards: features_folder(wildcards.model),
            code=lambda wildcards: stage_code("take_weights", model=module_of(wildcards.model)),
        shell:
            "python -m compvqa take-weights $(dirname {output.weights:q}) --dataset {input.dataset:q} {params.parts:q}"
            f" {{params.features:q}} --config {{params.config:q}}{LOG}"


rule predict:
    input:
        weights=f"{T}/runs/{{model}}.{{split}}.{{variant}}.{{run_seed}}/model.safetensors",
        model=f"{T}/runs/{{model}}.{{split}}.{{variant}}.{{run_seed}}/model.json",
        checkpoint=lambda wildcards: checkpoint_of(wildcards.model),
        dataset=lambda wildcards: dataset_of(wildcards.split),
        split=lambda wildcards: predicted_by(wildcards.split)[1],
        paraphrases=PARAPHRASES,
        scenes=f"{T}/scenes/scenes.parquet",
        features=lambda wildcards: features_of(wildcards.model),
    output:
        predictions=f"{T}/runs/{{model}}.{{split}}.{{variant}}.{{run_seed}}/predictions.parquet",
        record=f"{T}/runs/{{model}}.{{split}}.{{variant}}.{{run_seed}}/predictions.parquet.prov.json",
    log:
        "logs/predict/{model}.{split}.{variant}.{run_seed}.log",
    benchmark:
        f"{JOBS}/predict-{{model}}.{{split}}.{{variant}}.{{run_seed}}.tsv"
    conda:
        "../envs/models.yaml"
    container:
        CONTAINERS["models"]
    threads: CONFIG.models.cpus
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
        gpu=ONE_GPU,
    params:
        config=lambda wildcards: model_settings(wildcards.model, "prediction"),
        split=lambda wildcards, input: repeated("--split", [input.split] if input.split else []),
        parts=lambda wildcards: repeated("--part", predicted_by(wildcards.split)[0]),
        paraphrases=repeated("--paraphrases", PARAPHRASES),
        features=lambda wildcards: features_folder(wildcards.model),
        code=lambda wildcards: stage_code("predict", model=module_of(wildcards.model)),
    shell:
        "python -m compvqa predict {output.predictions:q} --weights $(dirname {input.weights:q})"
        " --run {wildcards.model:q}.{wildcards.split:q}.{wildcards.variant:q}.{wildcards.run_seed:q}"
        f" --dataset {{input.dataset:q}} {{params.split:q}} {{params.parts:q}} {{params.paraphrases:q}} --scenes {T}/scenes"
        f" {{params.features:q}} --config {{params.config:q}}{LOG}"


rule baseline:
    input:
        dataset=lambda wildcards: dataset_of(wildcards.split),
        split=lambda wildcards: predicted_by(wildcards.split)[1],
        paraphrases=PARAPHRASES,
        scenes=lambda wildcards: SCENE_FILES if SCENES in reads(wildcards.model) else [],
    output:
        predictions=f"{T}/baselines/{{model}}.{{split}}.{{variant}}.{{run_seed}}.parquet",
        record=f"{T}/baselines/{{model}}.{{split}}.{{variant}}.{{run_seed}}.parquet.prov.json",
    log:
        "logs/baseline/{model}.{split}.{variant}.{run_seed}.log",
    benchmark:
        f"{JOBS}/baseline-{{model}}.{{split}}.{{variant}}.{{run_seed}}.tsv"
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000, 8),
        runtime=minutes(10, 0.02),
    params:
        split=lambda wildcards, input: repeated("--split", [input.split] if input.split else []),
        parts=lambda wildcards: repeated("--train-part", learnt_by(wildcards.split, wildcards.variant))
        + repeated("--part", predicted_by(wildcards.split)[0]),
        seed=CONFIG.seed,
        paraphrases=repeated("--paraphrases", PARAPHRASES),
        scenes=lambda wildcards, input: ["--scenes", f"{T}/scenes"] if input.scenes else [],
        code=lambda wildcards: stage_code(
            "baseline",
            model=module_of(wildcards.model),
            language=LANGUAGE if SCENES in reads(wildcards.model) else [],
        ),
    shell:
        "python -m compvqa baseline {output.predictions:q} --model {wildcards.model:q}"
        " --run {wildcards.model:q}.{wildcards.split:q}.{wildcards.variant:q}.{wildcards.run_seed:q}"
        " --dataset {input.dataset:q} {params.split:q} {params.parts:q} {params.paraphrases:q} {params.scenes:q}"
        f"{SEED}"
