# Takes pictures and where their objects are; gives regions that are described without labels, shard by shard, as one store.
CROPPED = f"{T}/features/shards/{{scatteritem}}"
CROPS = CONFIG.features.crops
NETWORK = CROPS.network
LOOKED = [] if NETWORK.backbone in ("", "efficientnet-lite0") else staged((NETWORK.backbone, NETWORK.revision))
CHECKPOINTS.append(LOOKED)
SHOWN_IN = repeated("--images", [f"{space}={folder}" for space, folder in CONFIG.images.items()])


rule crops:
    input:
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=["scenes", "objects"]),
        images=data(list(CONFIG.images.values())),
        checkpoint=data(LOOKED),
    output:
        regions=f"{CROPPED}/regions.parquet",
        features=f"{CROPPED}/features.safetensors",
        record=f"{CROPPED}/regions.parquet.prov.json",
    log:
        "logs/crops/{scatteritem}.log",
    benchmark:
        f"{JOBS}/crops-{{scatteritem}}.tsv"
    priority: 1  # much waits for it: before pages
    conda:
        "../envs/models.yaml"
    container:
        CONTAINERS["models"]
    threads: NETWORK.threads
    resources:
        mem_mb=memory(3000),
        runtime=minutes(240),
        gpu=ONE_GPU if NETWORK.backbone else 0,
    params:
        folder=lambda wildcards, output: os.path.dirname(output.regions),
        config=data(CROPS.model_dump_json()),
        images=data(SHOWN_IN),
        seed=CONFIG.seed,
        code=code_of("crops"),
    shell:
        f"python -m compvqa crops {{params.folder:q}} --scenes {T}/scenes {{params.images:q}}"
        f" --shard {{wildcards.scatteritem}}{STAGE}"


rule features:
    input:
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=["scenes", "objects"]),
        images=data(list(CONFIG.images.values())),
        shards=gather.shards(rules.crops.output.regions),
        matrices=gather.shards(rules.crops.output.features),
    output:
        regions=f"{T}/features/regions.parquet",
        features=f"{T}/features/features.safetensors",
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
        config=data(CROPS.model_dump_json()),
        images=data(SHOWN_IN),
        shards=[f"--shard={T}/features/shards/{part}" for part in gather.shards("{scatteritem}")],
        seed=CONFIG.seed,
        code=code_of("gather_crops"),
    shell:
        f"python -m compvqa gather-crops {T}/features --scenes {T}/scenes {{params.images:q}} {{params.shards:q}}"
        f"{STAGE}"


ENCODER = []  # it saw none of our pictures
ENCODER_SAW = []
FEATURES = {"regions": [rules.features.output.regions, rules.features.output.features]}
