# Takes graphs, scenes outside the test-bed and features; gives the image filter, a model a fold of the images, what it
# says of other instances than are annotated, and its thresholds.
ASIDE = str(CONFIG.aside)
IMAGES = f"{T}/filters/images"
MODEL_FILES = ["model.safetensors", "model.json", "saw.parquet"]
START = expand(f"{IMAGES}/start/{{file}}", file=MODEL_FILES) if ENCODER else []


wildcard_constraints:
    aside="encoder|calibration",
    fold="[0-9]+",


rule aside_subgraphs:
    input:
        data(CONFIG.aside or []),
    output:
        subgraphs=f"{T}/aside/{{aside}}/subgraphs/1-of-1.parquet",
        occurrences=f"{T}/aside/{{aside}}/occurrences/1-of-1.parquet",
        record=f"{T}/aside/{{aside}}/subgraphs/1-of-1.parquet.prov.json",
    log:
        "logs/aside_subgraphs/{aside}.log",
    benchmark:
        f"{JOBS}/aside_subgraphs-{{aside}}.tsv"
    priority: 1  # much waits for it: before pages
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
    params:
        config=data(DATASET.section("subgraphs")),
        seed=CONFIG.seed,
        code=code_of("subgraphs"),
    shell:
        f"python -m compvqa subgraphs --scenes {{input:q}}/{{wildcards.aside:q}}/annotated --shard 1-of-1"
        f" --subgraphs {{output.subgraphs:q}} --occurrences {{output.occurrences:q}}{STAGE}"


rule aside_candidates:
    input:
        scenes=data(CONFIG.aside or []),
        subgraphs=rules.aside_subgraphs.output.subgraphs,
        occurrences=rules.aside_subgraphs.output.occurrences,
        overlap=f"{T}/overlap/overlap.parquet",
    output:
        seeds=f"{T}/aside/{{aside}}/seeds/1-of-1.parquet",
        candidates=f"{T}/aside/{{aside}}/candidates/1-of-1.parquet",
        record=f"{T}/aside/{{aside}}/candidates/candidates.prov.json",
    log:
        "logs/aside_candidates/{aside}.log",
    benchmark:
        f"{JOBS}/aside_candidates-{{aside}}.tsv"
    priority: 1  # much waits for it: before pages
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
    params:
        config=data(DATASET.section("candidates", backend="duckdb")),
        seed=CONFIG.seed,
        code=code_of("candidates", backend="duckdb"),
    shell:
        f"python -m compvqa candidates --scenes {{input.scenes:q}}/{{wildcards.aside:q}}/annotated"
        f" --graphs {T}/aside/{{wildcards.aside:q}} --overlap {{input.overlap:q}} --shards 1"
        f" --seeds $(dirname {{output.seeds:q}}) --candidates $(dirname {{output.candidates:q}}){STAGE}"


rule image_examples:
    input:
        graphs=lambda wildcards: [
            path
            for name in ("subgraphs", "occurrences", "seeds", "candidates")
            for path in gather.shards(f"{T}/graphs/{name}/{{scatteritem}}.parquet")
        ],
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        overlap=f"{T}/overlap/overlap.parquet",
    output:
        examples=f"{IMAGES}/examples.parquet",
        texts=f"{IMAGES}/texts.parquet",
        record=f"{IMAGES}/examples.parquet.prov.json",
    log:
        "logs/image_examples.log",
    benchmark:
        f"{JOBS}/image_examples.tsv"
    priority: 1  # much waits for it: before pages
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    params:
        config=data(as_json(DATASET.presence.examples.model_dump(mode="json"))),
        seed=CONFIG.seed,
        code=code_of("image_examples"),
    shell:
        f"python -m compvqa image-examples {IMAGES} --graphs {T}/graphs --scenes {T}/scenes"
        f" --overlap {{input.overlap:q}}{STAGE}"


# What all folds start from, learnt from images outside all of them.
rule image_start:
    input:
        graphs=expand(
            f"{T}/aside/encoder/{{table}}/1-of-1.parquet",
            table=["subgraphs", "occurrences", "seeds", "candidates"],
        ),
        scenes=data(CONFIG.aside or []),
        features=expand(
            f"{T}/features/{{file}}", file=["regions.parquet", "features.safetensors", "encoder.safetensors"]
        ),
    output:
        weights=f"{IMAGES}/start/model.safetensors",
        model=f"{IMAGES}/start/model.json",
        history=f"{IMAGES}/start/history.parquet",
        saw=f"{IMAGES}/start/saw.parquet",
        asked=f"{IMAGES}/start/asked.parquet",
        record=f"{IMAGES}/start/model.safetensors.prov.json",
    log:
        "logs/image_start.log",
    benchmark:
        f"{JOBS}/image_start.tsv"
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
        config=data(model_settings(DATASET.presence.model, "pretraining")),
        encoder=repeated("--encoder", [ENCODER] if ENCODER else []),
        seed=CONFIG.seed,
        code=code_of("pretrain", model=module_of(DATASET.presence.model)),
    shell:
        f"python -m compvqa pretrain {IMAGES}/start --graphs {T}/aside/encoder"
        f" --scenes {{input.scenes:q}}/encoder/annotated --features {T}/features {{params.encoder:q}}{STAGE}"


rule image_filter:
    input:
        examples=rules.image_examples.output.examples,
        texts=rules.image_examples.output.texts,
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        regions=rules.features.output.regions,
        features=rules.features.output.features,
        start=START,
        checkpoint=data(checkpoint_of(DATASET.presence.model)),
    output:
        weights=f"{IMAGES}/{{fold}}/model.safetensors",
        model=f"{IMAGES}/{{fold}}/model.json",
        history=f"{IMAGES}/{{fold}}/history.parquet",
        saw=f"{IMAGES}/{{fold}}/saw.parquet",
        record=f"{IMAGES}/{{fold}}/model.safetensors.prov.json",
    log:
        "logs/image_filter/{fold}.log",
    benchmark:
        f"{JOBS}/image_filter-{{fold}}.tsv"
    priority: 1  # long, and much waits for it: before pages
    conda:
        "../../../envs/models.yaml"
    container:
        CONTAINERS["models"]
    threads: CONFIG.models.cpus
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
        gpu=ONE_GPU,
    params:
        config=data(model_settings(DATASET.presence.model, "presence")),
        start=repeated("--start", [f"{IMAGES}/start"] if START else []),
        seed=CONFIG.seed,
        code=code_of("image_filter", model=module_of(DATASET.presence.model)),
    shell:
        f"python -m compvqa image-filter {IMAGES}/{{wildcards.fold:q}} --examples {IMAGES}"
        f" --fold {{wildcards.fold:q}} --scenes {T}/scenes --features {T}/features {{params.start:q}}{STAGE}"


rule others:
    input:
        seeds=lambda wildcards: found("seeds", wildcards),
        related=f"{T}/{{arm}}graphs/related/{{scatteritem}}.parquet",
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        lexicon=rules.lexicon.output.lexicon,
        models=lambda wildcards: presence_inputs(wildcards.arm),
    output:
        others=f"{T}/{{arm}}filters/others/{{scatteritem}}.parquet",
        record=f"{T}/{{arm}}filters/others/{{scatteritem}}.parquet.prov.json",
    log:
        "logs/{arm}others/{scatteritem}.log",
    benchmark:
        f"{JOBS}/{{arm}}others-{{scatteritem}}.tsv"
    conda:
        f"../../../envs/{family('presence')}.yaml"
    container:
        CONTAINERS[family("presence")]
    resources:
        mem_mb=memory(3000),
        runtime=minutes(240),
        gpu=lambda wildcards: presence_gpus(wildcards.arm),
    params:
        config=lambda wildcards: presence_settings(wildcards.arm),
        questions=lambda wildcards: question_settings(wildcards.arm),
        models=lambda wildcards: presence_options(wildcards.arm),
        seed=CONFIG.seed,
        code=lambda wildcards: presence_code("others", wildcards.arm, kinds=TEMPLATE_KINDS),
        templates=TEMPLATES.digest(),
        where=repeated("--templates", map(near, TEMPLATES.folders)),
    shell:
        "python -m compvqa others {output.others:q} --seeds {input.seeds:q} --related {input.related:q}"
        f" --scenes {T}/scenes --lexicon {{input.lexicon:q}} {{params.where:q}}"
        f" --questions {{params.questions:q}} {{params.models:q}}{STAGE}"


rule image_labels:
    input:
        seeds=f"{T}/aside/calibration/seeds/1-of-1.parquet",
        candidates=f"{T}/aside/calibration/candidates/1-of-1.parquet",
        complete=data(CONFIG.aside or []),
        lexicon=rules.lexicon.output.lexicon,
    output:
        labels=f"{IMAGES}/labels.parquet",
        record=f"{IMAGES}/labels.parquet.prov.json",
    log:
        "logs/image_labels.log",
    benchmark:
        f"{JOBS}/image_labels.tsv"
    priority: 1  # much waits for it: before pages
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000),
        runtime=minutes(20),
    params:
        config=data(as_json(DATASET.presence.labels.model_dump(mode="json"))),
        seed=CONFIG.seed,
        code=code_of("image_labels"),
    shell:
        f"python -m compvqa image-labels {{output.labels:q}} --graphs {T}/aside/calibration"
        f" --complete {{input.complete:q}}/calibration/complete --lexicon {{input.lexicon:q}}{STAGE}"


ANNOTATED = str(DATASET.presence.annotated or rules.image_labels.output.labels)


rule image_scores:
    input:
        annotated=data(ANNOTATED),
        scenes=data(
            expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES) if DATASET.presence.annotated else ASIDE
        ),
        models=presence_inputs(),
    output:
        scores=f"{IMAGES}/scores.parquet",
        record=f"{IMAGES}/scores.parquet.prov.json",
    log:
        "logs/image_scores.log",
    benchmark:
        f"{JOBS}/image_scores.tsv"
    conda:
        f"../../../envs/{family('presence')}.yaml"
    container:
        CONTAINERS[family("presence")]
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
        gpu=presence_gpus(),
    params:
        config=data(presence_settings()),
        scenes=data(f"{T}/scenes" if DATASET.presence.annotated else f"{ASIDE}/calibration/annotated"),
        models=presence_options(),
        seed=CONFIG.seed,
        code=presence_code("image_scores"),
    shell:
        "python -m compvqa image-scores {output.scores:q} --annotated {input.annotated:q} --scenes {params.scenes:q}"
        f" {{params.models:q}}{STAGE}"


rule thresholds:
    input:
        annotated=data(ANNOTATED),
        scores=rules.image_scores.output.scores,
    output:
        thresholds=f"{IMAGES}/thresholds.json",
        table=f"{IMAGES}/thresholds.parquet",
        record=f"{IMAGES}/thresholds.json.prov.json",
    log:
        "logs/thresholds.log",
    benchmark:
        f"{JOBS}/thresholds.tsv"
    localrule: True
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000),
        runtime=minutes(10),
    params:
        config=data(as_json(DATASET.presence.calibration.model_dump(mode="json"))),
        code=code_of("thresholds"),
    shell:
        "python -m compvqa thresholds {output.thresholds:q} --annotated {input.annotated:q} --presence {input.scores:q}"
        f" --table {{output.table:q}} --config {{params.config:q}}{LOG}"
