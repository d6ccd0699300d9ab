# Takes the scene tables, and the dataset with its splits and all models' answers; puts them into the Neo4j server of
# NEO4J_URI, and gives files that say what is there. Another server, or one that was emptied: --forcerun load_neo4j.
rule load_neo4j:
    input:
        expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
    output:
        loaded=f"{T}/graphs/neo4j.json",
        record=f"{T}/graphs/neo4j.json.prov.json",
    log:
        "logs/load_neo4j.log",
    benchmark:
        f"{JOBS}/load_neo4j.tsv"
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["graph"]
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
    params:
        config=data(DATASET.section("neo4j")),
        code=code_of("load_neo4j"),
    shell:
        f"python -m compvqa load-neo4j --scenes {T}/scenes --out {{output.loaded:q}} --config {{params.config:q}}{LOG}"


rule load_testbed:
    input:
        rules.load_neo4j.output.loaded,
        dataset=f"{T}/dataset/questions.parquet",
        splits=expand(f"{T}/splits/{{split}}.parquet", split=MAIN_SPLITS),
        predictions=answers_of(""),
    output:
        loaded=f"{T}/evaluation/neo4j.json",
        record=f"{T}/evaluation/neo4j.json.prov.json",
    log:
        "logs/load_testbed.log",
    benchmark:
        f"{JOBS}/load_testbed.tsv"
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["graph"]
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
    params:
        config=data(DATASET.section("neo4j")),
        code=code_of("load_testbed"),
        splits=lambda wildcards, input: repeated("--splits", input.splits),
        predictions=lambda wildcards, input: repeated("--predictions", input.predictions),
    shell:
        f"python -m compvqa load-neo4j --scenes {T}/scenes --dataset {{input.dataset:q}} {{params.splits:q}}"
        " {params.predictions:q} --out {output.loaded:q} --config {params.config:q}"
        f"{LOG}"
