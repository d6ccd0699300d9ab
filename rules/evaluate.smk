# Takes all models' answers and the datasets that they are about; gives scores, contrasts and tallies. Each chain is scored
# by itself, and where there are several, their tables are put together.
SCORED = list(dict.fromkeys([*[""] * HAS_MAIN, *map(CHAIN_OF.get, ANSWERED)]))
# The chains by the folders of their scores, in the results' folder.
EVALUATIONS = (
    {f"{chain or 'dataset'}/evaluation": chain for chain in SCORED} if SCORED[1:] else {"evaluation": SCORED[0]}
)


wildcard_constraints:
    evaluation="|".join(map(re.escape, EVALUATIONS)),


rule scores:
    input:
        predictions=lambda wildcards: answers_of(EVALUATIONS[wildcards.evaluation]),
        dataset=lambda wildcards: dataset_in(EVALUATIONS[wildcards.evaluation]),
        splits=lambda wildcards: expand(
            f"{T}/splits/{{split}}.parquet", split=scored_of(EVALUATIONS[wildcards.evaluation])
        ),
        seen=lambda wildcards: seen_in(EVALUATIONS[wildcards.evaluation]),
        paraphrases=lambda wildcards: [] if EVALUATIONS[wildcards.evaluation] else PARAPHRASES,
        scenes=SCENE_FILES if CONFIG.scores.facets else [],
    output:
        scores=f"{T}/{{evaluation}}/scores.parquet",
        contrasts=f"{T}/{{evaluation}}/contrasts.parquet",
        tallies=f"{T}/{{evaluation}}/tallies.parquet",
        record=f"{T}/{{evaluation}}/scores.parquet.prov.json",
    log:
        "logs/{evaluation}/scores.log",
    benchmark:
        f"{JOBS}/{{evaluation}}/scores.tsv"
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
        seen=lambda wildcards, input: repeated("--seen", input.seen),
        paraphrases=lambda wildcards, input: repeated("--paraphrases", input.paraphrases),
        scenes=repeated("--scenes", [f"{T}/scenes"] if CONFIG.scores.facets else []),
    shell:
        "python -m compvqa scores {output.scores:q} --contrasts {output.contrasts:q} --tallies {output.tallies:q}"
        " {params.predictions:q} --dataset {input.dataset:q} {params.splits:q} {params.seen:q} {params.paraphrases:q}"
        " {params.scenes:q}"
        f"{STAGE}"


if SCORED[1:]:

    rule gather_scores:
        input:
            scores=expand(f"{T}/{{evaluation}}/scores.parquet", evaluation=EVALUATIONS),
            contrasts=expand(f"{T}/{{evaluation}}/contrasts.parquet", evaluation=EVALUATIONS),
            tallies=expand(f"{T}/{{evaluation}}/tallies.parquet", evaluation=EVALUATIONS),
        output:
            scores=f"{T}/evaluation/scores.parquet",
            contrasts=f"{T}/evaluation/contrasts.parquet",
            tallies=f"{T}/evaluation/tallies.parquet",
            record=f"{T}/evaluation/scores.parquet.prov.json",
        log:
            "logs/gather_scores.log",
        benchmark:
            f"{JOBS}/gather_scores.tsv"
        conda:
            "../envs/data.yaml"
        container:
            CONTAINERS["data"]
        resources:
            mem_mb=memory(1000, 20),
            runtime=minutes(20, 0.03),
        params:
            folders=repeated("--evaluation", [f"{T}/{evaluation}" for evaluation in EVALUATIONS]),
            code=code_of("gather_scores"),
        shell:
            "python -m compvqa gather-scores {output.scores:q} --contrasts {output.contrasts:q}"
            f" --tallies {{output.tallies:q}} {{params.folders:q}}{LOG}"
