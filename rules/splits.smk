# Takes the dataset of a split's chain, and the split's definition (config/splits/*.yaml); gives the questions of each of
# its parts.
rule split:
    input:
        dataset=lambda wildcards: dataset_of(wildcards.split),
        scenes=f"{T}/scenes/scenes.parquet",
        beside=SCENE_FILES[1:],  # if a property looks at them
        lexicon=LEXICON,
    output:
        split=f"{T}/splits/{{split}}.parquet",
        record=f"{T}/splits/{{split}}.parquet.prov.json",
    log:
        "logs/splits/{split}.log",
    benchmark:
        f"{JOBS}/split-{{split}}.tsv"
    priority: 1  # much waits for it: before pages
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000, 20, of=["dataset", "scenes"]),
        runtime=minutes(10, 0.02, of=["dataset", "scenes"]),
    params:
        config=lambda wildcards: split_settings(wildcards.split),
        lexicon=repeated("--lexicon", LEXICON),
        seed=CONFIG.seed,
        code=lambda wildcards: stage_code("split", language=LANGUAGE, setup=setup_module(wildcards.split)),
    shell:
        "python -m compvqa split {output.split:q} --dataset {input.dataset:q} --scenes {input.scenes:q}"
        " {params.lexicon:q}"
        f"{STAGE}"


use rule split as split_of_m with:
    output:
        split=f"{T}/splits/{{split}}.m{{m}}.parquet",
        record=f"{T}/splits/{{split}}.m{{m}}.parquet.prov.json",
    log:
        "logs/splits/{split}.m{m}.log",
    benchmark:
        f"{JOBS}/split-{{split}}.m{{m}}.tsv"
    params:
        config=lambda wildcards: split_settings(wildcards.split, int(wildcards.m)),
        seed=CONFIG.seed,
        code=lambda wildcards: stage_code("split", language=LANGUAGE, setup=setup_module(wildcards.split)),
