# Takes graphs and features; gives the weights that small models start from, trained on questions about subgraphs.
rule pretrain:
    input:
        graphs=lambda wildcards: [
            path
            for name in ("subgraphs", "occurrences", "seeds", "candidates")
            for path in gather.shards(f"{T}/graphs/{name}/{{scatteritem}}.parquet")
        ],
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        regions=rules.features.output.regions,
        features=rules.features.output.features,
        encoder=ENCODER,
    output:
        weights=f"{T}/pretrained/{{model}}.{{run_seed}}/model.safetensors",
        model=f"{T}/pretrained/{{model}}.{{run_seed}}/model.json",
        history=f"{T}/pretrained/{{model}}.{{run_seed}}/history.parquet",
        saw=f"{T}/pretrained/{{model}}.{{run_seed}}/saw.parquet",
        asked=f"{T}/pretrained/{{model}}.{{run_seed}}/asked.parquet",
        record=f"{T}/pretrained/{{model}}.{{run_seed}}/model.safetensors.prov.json",
    log:
        "logs/pretrain/{model}.{run_seed}.log",
    benchmark:
        f"{JOBS}/pretrain-{{model}}.{{run_seed}}.tsv"
    priority: 1  # long, and much waits for it: before pages
    conda:
        "../../../envs/models.yaml"
    container:
        CONTAINERS["models"]
    threads: CONFIG.models.cpus
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
        gpu=ONE_GPU,
    params:
        config=lambda wildcards: model_settings(wildcards.model, "pretraining"),
        encoder=repeated("--encoder", [ENCODER] if ENCODER else []),
        seed=lambda wildcards: wildcards.run_seed,
        code=lambda wildcards: stage_code("pretrain", model=module_of(wildcards.model)),
    shell:
        f"python -m compvqa pretrain {T}/pretrained/{{wildcards.model:q}}.{{wildcards.run_seed:q}}"
        f" --graphs {T}/graphs --scenes {T}/scenes --features {T}/features {{params.encoder:q}}{STAGE}"
