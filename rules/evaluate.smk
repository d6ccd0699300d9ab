# Takes all models' answers, the dataset and the truth; gives scores, contrasts, statistics and the share of invalid questions.
rule scores:
    input:
        predictions=[f"{T}/runs/{run}/predictions.parquet" for run in RUNS]
        + [f"{T}/baselines/{run}.parquet" for run in BASELINES],
        dataset=f"{T}/dataset/questions.parquet",
        splits=expand(f"{T}/splits/{{split}}.parquet", split=MAIN_SPLITS),
        paraphrases=PARAPHRASES,
    output:
        scores=f"{T}/evaluation/scores.parquet",
        contrasts=f"{T}/evaluation/contrasts.parquet",
        record=f"{T}/evaluation/scores.parquet.prov.json",
    log:
        "logs/scores.log",
    benchmark:
        f"{JOBS}/scores.tsv"
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000, 8),
        runtime=minutes(20, 0.03),
    params:
        config=data(CONFIG.section("scores")),
        seed=CONFIG.seed,
        code=code_of("scores", language=LANGUAGE, contrast=list(CONFIG.scores.contrasts)),
        predictions=lambda wildcards, input: repeated("--predictions", input.predictions),
        splits=lambda wildcards, input: repeated("--splits", input.splits),
        paraphrases=repeated("--paraphrases", PARAPHRASES),
    shell:
        "python -m compvqa scores {output.scores:q} --contrasts {output.contrasts:q} {params.predictions:q}"
        " --dataset {input.dataset:q} {params.splits:q} {params.paraphrases:q}"
        f"{STAGE}"


rule statistics:
    input:
        dataset=f"{T}/dataset/questions.parquet",
    output:
        statistics=f"{T}/evaluation/statistics.parquet",
        record=f"{T}/evaluation/statistics.parquet.prov.json",
    log:
        "logs/statistics.log",
    benchmark:
        f"{JOBS}/statistics.tsv"
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000, 8),
        runtime=minutes(20, 0.03),
    params:
        code=code_of("statistics"),
    shell:
        "python -m compvqa statistics {output.statistics:q} --dataset {input.dataset:q}" f"{LOG}"


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
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
    params:
        config=data(CONFIG.section("validity")),
        seed=CONFIG.seed,
        code=code_of("validity"),
    shell:
        f"python -m compvqa validity {{output.validity:q}} --dataset {{input.dataset:q}} --scenes {T}/scenes"
        f" --truth {{input.truth:q}} --lexicon {{input.lexicon:q}}{STAGE}"
