# Takes pictures; gives the grids and pooled vectors of a frozen network, shard by shard, as two stores.
PICTURED = f"{T}/features/shards/{{scatteritem}}"
BACKBONE = CONFIG.features.pictures
LOOKED = [] if BACKBONE.backbone == "efficientnet-lite0" else staged((BACKBONE.backbone, BACKBONE.revision))
CHECKPOINTS.append(LOOKED)


rule pictures:
    input:
        scenes=f"{T}/scenes/scenes.parquet",
        images=data(list(CONFIG.images.values())),
        checkpoint=data(LOOKED),
    output:
        pictures=f"{PICTURED}/pictures.parquet",
        grid=f"{PICTURED}/grid.safetensors",
        pooled=f"{PICTURED}/pooled.safetensors",
        record=f"{PICTURED}/pictures.parquet.prov.json",
    log:
        "logs/pictures/{scatteritem}.log",
    benchmark:
        f"{JOBS}/pictures-{{scatteritem}}.tsv"
    priority: 1  # long, and much waits for it: before pages
    conda:
        "../envs/models.yaml"
    container:
        CONTAINERS["models"]
    threads: BACKBONE.threads
    resources:
        mem_mb=memory(3000),
        runtime=minutes(240),
        gpu=ONE_GPU,
    params:
        folder=lambda wildcards, output: os.path.dirname(output.pictures),
        config=data(BACKBONE.model_dump_json()),
        images=data(repeated("--images", [f"{space}={folder}" for space, folder in CONFIG.images.items()])),
        code=code_of("pictures"),
    shell:
        f"python -m compvqa pictures {{params.folder:q}} --scenes {T}/scenes {{params.images:q}}"
        f" --shard {{wildcards.scatteritem}} --config {{params.config:q}}{LOG}"


rule features:
    input:
        scenes=f"{T}/scenes/scenes.parquet",
        images=data(list(CONFIG.images.values())),
        pictures=gather.shards(rules.pictures.output.pictures),
        grid=gather.shards(rules.pictures.output.grid),
        pooled=gather.shards(rules.pictures.output.pooled),
    output:
        regions=f"{T}/features/regions.parquet",
        pooled=f"{T}/features/pooled/regions.parquet",
        record=f"{T}/features/regions.parquet.prov.json",
    log:
        "logs/features.log",
    benchmark:
        f"{JOBS}/features.tsv"
    conda:
        "../envs/models.yaml"
    container:
        CONTAINERS["models"]
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
    params:
        config=data(BACKBONE.model_dump_json()),
        images=data(repeated("--images", [f"{space}={folder}" for space, folder in CONFIG.images.items()])),
        shards=[f"--shard={T}/features/shards/{part}" for part in gather.shards("{scatteritem}")],
        code=code_of("gather_pictures"),
    shell:
        f"python -m compvqa gather-pictures {T}/features --scenes {T}/scenes {{params.images:q}} {{params.shards:q}}"
        f" --config {{params.config:q}}{LOG}"


ENCODER = []  # it saw none of our pictures
ENCODER_SAW = []
FEATURES = {
    "regions": [rules.features.output.regions, *rules.features.input.grid],
    "pooled": [rules.features.output.pooled, *rules.features.input.pooled],
}
