# Takes seeds, related images and templates; gives all candidate questions, and why others were dropped.
rule questions:
    input:
        seeds=f"{T}/graphs/seeds/{{scatteritem}}.parquet",
        related=f"{T}/graphs/related/{{scatteritem}}.parquet",
        others=f"{T}/filters/others/{{scatteritem}}.parquet",
        scenes=expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES),
        lexicon=rules.lexicon.output.lexicon,
    output:
        questions=f"{T}/questions/shards/{{scatteritem}}.parquet",
        dropped=f"{T}/questions/dropped/{{scatteritem}}.parquet",
        record=f"{T}/questions/shards/{{scatteritem}}.parquet.prov.json",
    log:
        "logs/questions/{scatteritem}.log",
    benchmark:
        "benchmarks/jobs/questions-{scatteritem}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=memory(3000),
        runtime=minutes(120),
    params:
        config=CONFIG.section("questions"),
        seed=CONFIG.seed,
        code=stage_code("questions", kinds=TEMPLATE_KINDS),
        templates=TEMPLATES.digest(),
    shell:
        "python -m compvqa questions --seeds {input.seeds} --related {input.related} --others {input.others}"
        f" --scenes {T}/scenes --lexicon {{input.lexicon}} --templates $PROJECT/config/templates/covr"
        f" --testbed {CONFIG.testbed} --questions {{output.questions}} --dropped {{output.dropped}}{STAGE}"


rule gather_questions:
    input:
        questions=gather.shards(f"{T}/questions/shards/{{scatteritem}}.parquet"),
        dropped=gather.shards(f"{T}/questions/dropped/{{scatteritem}}.parquet"),
    output:
        questions=f"{T}/questions/questions.parquet",
        dropped=f"{T}/questions/dropped.parquet",
        record=f"{T}/questions/questions.parquet.prov.json",
    log:
        "logs/gather_questions.log",
    benchmark:
        "benchmarks/jobs/gather_questions.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        code=stage_code("gather_questions"),
    shell:
        f"python -m compvqa gather-questions --shards {T}/questions"
        f" --questions {{output.questions}} --dropped {{output.dropped}}{LOG}"
