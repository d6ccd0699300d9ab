# Takes released files of features; gives the regions of the scenes' images and their features.
rule features:
    input:
        scenes=f"{T}/scenes/scenes.parquet",
        files=data(CONFIG.features.released.files),
    output:
        regions=f"{T}/features/regions.parquet",
        features=f"{T}/features/features.safetensors",
        rejects=f"{T}/features/rejects.parquet",
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
        runtime=minutes(240),
    params:
        config=data(CONFIG.features.released.model_dump_json()),
        code=code_of("read_features", readers=CONFIG.features.released.readers),
    shell:
        f"python -m compvqa read-features {T}/features --scenes {T}/scenes --config {{params.config:q}}{LOG}"


ENCODER = []  # nobody released it
ENCODER_SAW = []
FEATURES = {"regions": [rules.features.output.regions, rules.features.output.features]}
