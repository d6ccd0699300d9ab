# Takes the dataset, splits and pictures; gives what vision-language models reply, and the answers that these are.
# A run is <model>.<split>.<variant>.<seed>, as of trained models; its shots come from the parts that the variant is fitted on,
# or from what a part of the split lacks.
ASKED = [
    f"{model}.{split}.{variant}.{CONFIG.seed}"
    for model, asked in ASKED_MODELS.items()
    for split in [
        *[IID] * HAS_MAIN,
        *[name for name in ANSWERED if CHAIN_OF[name] or (asked.shots and name in CONFIG.models.splits)],
    ]
    for variant in asked_in(model, split)
]
LOGS_OF_ASKED = f"logs/asked/{CONFIG.testbed}"
# The harness has an environment of its own, which `make inspect` sets up beside the project.
OWN_PYTHON = PROJECT / ".venv-inspect/bin"
ASKS = f'export PATH={quote(str(OWN_PYTHON))}:"$PATH"; ' if INTERPRETER and OWN_PYTHON.is_dir() else ""


rule ask:
    input:
        dataset=lambda wildcards: dataset_of(wildcards.split),
        split=lambda wildcards: predicted_by(wildcards.split)[1],
        paraphrases=PARAPHRASES,
        scenes=f"{T}/scenes/scenes.parquet",
        images=data(list(CONFIG.images.values())),
    output:
        predictions=f"{T}/asked/{{model}}.{{split}}.{{variant}}.{{run_seed}}.parquet",
        replies=f"{T}/asked/{{model}}.{{split}}.{{variant}}.{{run_seed}}.replies.parquet",
        record=f"{T}/asked/{{model}}.{{split}}.{{variant}}.{{run_seed}}.parquet.prov.json",
    log:
        "logs/ask/{model}.{split}.{variant}.{run_seed}.log",
    benchmark:
        f"{JOBS}/ask-{{model}}.{{split}}.{{variant}}.{{run_seed}}.tsv"
    conda:
        "../envs/inspect.yaml"
    container:
        CONTAINERS["inspect"]
    resources:
        mem_mb=memory(4000, 8),
        runtime=minutes(600),
    params:
        config=lambda wildcards: as_json(
            {
                "model": MODELS.load(wildcards.model) | setup_of(wildcards.split).variant(wildcards.variant).model,
                "prompt": PROMPTS.load(ASKED_MODELS[wildcards.model].prompt),
            }
        ),
        split=lambda wildcards, input: repeated("--split", [input.split] if input.split else []),
        parts=lambda wildcards: shots_of(wildcards.split, wildcards.variant)
        + repeated("--part", predicted_by(wildcards.split)[0]),
        paraphrases=repeated("--paraphrases", PARAPHRASES),
        images=data(repeated("--images", [f"{space}={folder}" for space, folder in CONFIG.images.items()])),
        seed=CONFIG.seed,
        code=code_of("ask"),
    shell:
        f"{ASKS}python -m compvqa ask {{output.predictions:q}} --replies {{output.replies:q}}"
        " --run {wildcards.model:q}.{wildcards.split:q}.{wildcards.variant:q}.{wildcards.run_seed:q}"
        " --dataset {input.dataset:q} {params.split:q} {params.parts:q} {params.paraphrases:q} --scenes {input.scenes:q}"
        f" {{params.images:q}} --cache resources/asked --logs {LOGS_OF_ASKED}{STAGE}"


# All that was said, in a folder that any browser opens from a static server.
rule replies:
    input:
        expand(f"{T}/asked/{{run}}.parquet", run=ASKED),
    output:
        viewer=directory(f"{T}/asked/viewer"),
    log:
        "logs/replies.log",
    conda:
        "../envs/inspect.yaml"
    container:
        CONTAINERS["inspect"]
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        code=code_of("ask"),
    shell:
        f"{ASKS}python -m compvqa bundle-replies {{output.viewer:q}} --logs {LOGS_OF_ASKED}{TEE}"


if ASKED:
    ALSO.append(rules.replies.output.viewer)
