# Takes seeds, related images and templates; gives all candidate questions, and why others were dropped.
rule questions:
    input:
        seeds=lambda wildcards: found("seeds", wildcards),
        related=lambda wildcards: f"{T}/{filtered(wildcards.arm)}graphs/related/{wildcards.scatteritem}.parquet",
        others=lambda wildcards: f"{T}/{filtered(wildcards.arm)}filters/others/{wildcards.scatteritem}.parquet",
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        lexicon=rules.lexicon.output.lexicon,
    output:
        questions=temp(f"{T}/{{arm}}questions/shards/{{scatteritem}}.parquet"),  # all of it is in the gathered table
        dropped=temp(f"{T}/{{arm}}questions/dropped/{{scatteritem}}.parquet"),
        record=f"{T}/{{arm}}questions/shards/{{scatteritem}}.parquet.prov.json",
    log:
        "logs/{arm}questions/{scatteritem}.log",
    benchmark:
        f"{JOBS}/{{arm}}questions-{{scatteritem}}.tsv"
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(3000, 60, of=["seeds", "related", "others"]),
        runtime=minutes(120, 0.6, of=["seeds", "related", "others"]),
    params:
        config=lambda wildcards: question_settings(wildcards.arm),
        seed=CONFIG.seed,
        code=code_of("questions", kinds=TEMPLATE_KINDS),
        templates=TEMPLATES.digest(),
        where=repeated("--templates", map(near, TEMPLATES.folders)),
    shell:
        "python -m compvqa questions --seeds {input.seeds:q} --related {input.related:q} --others {input.others:q}"
        f" --scenes {T}/scenes --lexicon {{input.lexicon:q}} {{params.where:q}}"
        f" --testbed {CONFIG.testbed} --questions {{output.questions:q}} --dropped {{output.dropped:q}}{STAGE}"


rule gather_questions:
    input:
        questions=gather.shards(f"{T}/{{arm}}questions/shards/{{scatteritem}}.parquet", allow_missing=True),
        dropped=gather.shards(f"{T}/{{arm}}questions/dropped/{{scatteritem}}.parquet", allow_missing=True),
    output:
        questions=f"{T}/{{arm}}questions/questions.parquet",
        dropped=f"{T}/{{arm}}questions/dropped.parquet",
        record=f"{T}/{{arm}}questions/questions.parquet.prov.json",
    log:
        "logs/{arm}gather_questions.log",
    benchmark:
        f"{JOBS}/{{arm}}gather_questions.tsv"
    conda:
        "../../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(4000, 8),
        runtime=minutes(60, 0.005),
    params:
        code=code_of("gather_questions"),
    shell:
        f"python -m compvqa gather-questions --shards {T}/{{wildcards.arm:q}}questions"
        f" --questions {{output.questions:q}} --dropped {{output.dropped:q}}{LOG}"
