# Takes scene tables, the lexicon and people's labels; gives labelled pairs of names, a fine-tuned word filter of each
# kind, and how often it is right: on pairs held out from its training, and (by a training of its own) on words; and what
# COVR's authors released of theirs.
wildcard_constraints:
    names="|".join(WORD_KINDS),


rule word_labels:
    input:
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        lexicon=rules.lexicon.output.lexicon,
        files=data(list(DATASET.word_labels.files)),
    output:
        labels=f"{T}/words/labels.parquet",
        record=f"{T}/words/labels.parquet.prov.json",
    log:
        "logs/word_labels.log",
    benchmark:
        f"{JOBS}/word_labels.tsv"
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        config=data(DATASET.section("word_labels")),
        code=code_of("word_labels"),
    shell:
        f"python -m compvqa word-labels {{output.labels:q}} --scenes {T}/scenes --lexicon {{input.lexicon:q}}"
        f" --config {{params.config:q}}{LOG}"


rule word_released:
    input:
        file=data([DATASET.overlap.released] if DATASET.overlap.released else []),
    output:
        pairs=f"{T}/words/released.parquet",
        record=f"{T}/words/released.parquet.prov.json",
    log:
        "logs/word_released.log",
    benchmark:
        f"{JOBS}/word_released.tsv"
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000),
        runtime=minutes(10),
    params:
        code=code_of("word_released"),
    shell:
        f"python -m compvqa word-released {{output.pairs:q}} --file {{input.file:q}}{LOG}"


rule word_filter:
    input:
        labels=rules.word_labels.output.labels,
        lexicon=rules.lexicon.output.lexicon,
        checkpoint=WORD_CHECKPOINT,
    output:
        weights=f"{T}/words/{{names}}/model.safetensors",
        model=f"{T}/words/{{names}}/model.json",
        history=f"{T}/words/{{names}}/history.parquet",
        scored=f"{T}/words/{{names}}/scored.parquet",
        record=f"{T}/words/{{names}}/model.safetensors.prov.json",
    log:
        "logs/word_filter/{names}.log",
    benchmark:
        f"{JOBS}/word_filter-{{names}}.tsv"
    priority: 1  # much waits for it: before pages
    conda:
        "../../../envs/models.yaml"
    container:
        CONTAINERS["models"]
    threads: CONFIG.models.cpus
    resources:
        mem_mb=memory(3000),
        runtime=minutes(120),
        gpu=ONE_GPU,
    params:
        config=data(DATASET.section("word_filter")),
        hold_out="pairs",
        seed=CONFIG.seed,
        code=code_of("word_filter"),
    shell:
        "python -m compvqa word-filter $(dirname {output.weights:q}) --labels {input.labels:q} --lexicon {input.lexicon:q}"
        f" --kind {{wildcards.names:q}} --hold-out {{params.hold_out:q}}{STAGE}"


use rule word_filter as word_filter_unseen with:
    output:
        weights=temp(f"{T}/words/unseen/{{names}}/model.safetensors"),
        model=temp(f"{T}/words/unseen/{{names}}/model.json"),
        history=f"{T}/words/unseen/{{names}}/history.parquet",
        scored=f"{T}/words/unseen/{{names}}/scored.parquet",
        record=f"{T}/words/unseen/{{names}}/model.safetensors.prov.json",
    log:
        "logs/word_filter/unseen-{names}.log",
    benchmark:
        f"{JOBS}/word_filter_unseen-{{names}}.tsv"
    priority: 0  # which only tells how good it is
    params:
        config=data(DATASET.section("word_filter")),
        hold_out="words",
        seed=CONFIG.seed,
        code=code_of("word_filter"),


rule word_scores:
    input:
        pairs=expand(rules.word_filter.output.scored, names=WORD_KINDS),
        words=expand(rules.word_filter_unseen.output.scored, names=WORD_KINDS),
        lexicon=rules.lexicon.output.lexicon,
    output:
        scores=f"{T}/evaluation/word_scores.parquet",
        record=f"{T}/evaluation/word_scores.parquet.prov.json",
    log:
        "logs/word_scores.log",
    benchmark:
        f"{JOBS}/word_scores.tsv"
    conda:
        "../../../envs/models.yaml"
    container:
        CONTAINERS["models"]
    resources:
        mem_mb=memory(2000),
        runtime=minutes(20),
    params:
        config=data(DATASET.section("word_filter")),
        scored=lambda wildcards, input: repeated(
            "--scored", [f"pairs={path}" for path in input.pairs] + [f"words={path}" for path in input.words]
        ),
        seed=CONFIG.seed,
        code=code_of("word_scores"),
    shell:
        "python -m compvqa word-scores {output.scores:q} {params.scored:q} --lexicon {input.lexicon:q}" f"{STAGE}"
