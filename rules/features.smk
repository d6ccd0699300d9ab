# Takes pictures and where objects are; gives the regions of each picture and their features.
rule features:
    input:
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        images=data(list(CONFIG.images.values())),
        truth=data(CONFIG.truth or []),
        aside=data(CONFIG.aside or []),
    output:
        regions=f"{T}/features/regions.parquet",
        features=f"{T}/features/features.safetensors",
        encoder=f"{T}/features/encoder.safetensors",
        saw=f"{T}/features/encoder_saw.parquet",
        record=f"{T}/features/regions.parquet.prov.json",
    log:
        "logs/features.log",
    benchmark:
        f"{JOBS}/features.tsv"
    priority: 1  # long, and much waits for it: before pages
    conda:
        "../envs/models.yaml"
    container:
        CONTAINERS["models"]
    threads: CONFIG.models.cpus
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60, 0.08),
        gpu=ONE_GPU,
    params:
        config=data(CONFIG.section("features")),
        seed=CONFIG.seed,
        code=code_of("features"),
    shell:
        f"python -m compvqa features {T}/features --scenes {T}/scenes --truth {{input.truth:q}}/complete"
        f" --aside {{input.aside:q}} --images {{input.images:q}}{STAGE}"


ENCODER = rules.features.output.encoder
ENCODER_SAW = [rules.features.output.saw]
FEATURES = {"regions": [rules.features.output.regions, rules.features.output.features]}
