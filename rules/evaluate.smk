# Takes all models' answers and the dataset; gives scores and contrasts.
rule scores:
    input:
        predictions=[f"{T}/runs/{run}/predictions.parquet" for run in RUNS]
        + [f"{T}/baselines/{run}.parquet" for run in BASELINES],
        dataset=f"{T}/dataset/questions.parquet",
        splits=expand(f"{T}/splits/{{split}}.parquet", split=MAIN_SPLITS),
        seen=SEEN,
        paraphrases=PARAPHRASES,
        scenes=SCENE_FILES if CONFIG.scores.facets else [],
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
        seen=repeated("--seen", SEEN),
        paraphrases=repeated("--paraphrases", PARAPHRASES),
        scenes=repeated("--scenes", [f"{T}/scenes"] if CONFIG.scores.facets else []),
    shell:
        "python -m compvqa scores {output.scores:q} --contrasts {output.contrasts:q} {params.predictions:q}"
        " --dataset {input.dataset:q} {params.splits:q} {params.seen:q} {params.paraphrases:q}"
        " {params.scenes:q}"
        f"{STAGE}"
