# Takes the dataset, its splits and their definitions; gives a dataset folder for the Hugging Face hub. And of what all
# rules made, the crate of the run.
PUBLISHED = f"{T}/publish"  # records and the table of all questions; what is handed on is in FOLDER alone
FOLDER = f"{PUBLISHED}/huggingface"
# The main chain's splits, or, where there is none, those of all chains; and the chains, each with its questions in a folder.
HANDED_ON = MAIN_SPLITS if HAS_MAIN else list(CHAIN_OF)
SPLIT_PARTS = {name: [part.name for part in setup_of(name).parts] for name in HANDED_ON}
OF_CHAIN = {chain: f"{chain}/" if chain else "" for chain in ([""] if HAS_MAIN else dict.fromkeys(CHAIN_OF.values()))}
DATASHEETS = Definitions(*[folder / "datasheets" for folder in FOLDERS])
DATASHEET = [near(DATASHEETS.path(CONFIG.publish.datasheet))] if CONFIG.publish.datasheet else []
# The pictures' folders, where they are handed on: each picture once, inline, with each question, or fetched by a script.
PICTURES = CONFIG.publish.pictures
PICTURE_FILES = [f"{FOLDER}/{path}" for path in picture_files(CONFIG.publish)]
HANDING = as_json(CONFIG.publish.model_dump(mode="json", include={"pictures", "picture_licences"}))
ARCHIVES = repeated("--archive", archives_of(CONFIG.images, CONFIG.publish, DOWNLOADS if PICTURES == "fetched" else []))
HANDED = repeated("--pictures", [f"{space}={folder}" for space, folder in CONFIG.images.items()])
DRAWN = repeated("--world", [CONFIG.world.folder] if CONFIG.world else [])
# What was judged of the main chain's questions, where a page shows it: made for the card alone, no manifest would know it.
JUDGED = SHOWN.get("validity", []) if HAS_MAIN and any("validity" in page.inputs for page in PAGES.values()) else []
RAW = [f"{name}={path}" for name, paths in CONFIG.raw().items() for path in paths]
CRATE = as_json({"publish": CONFIG.model_dump(mode="json")["publish"], "run": CONFIG.model_dump(mode="json")})


rule publish:
    input:
        f"{FOLDER}/README.md",


wildcard_constraints:
    of_chain=f"({'|'.join(map(re.escape, OF_CHAIN.values()))})?",


rule publish_questions:
    input:
        dataset=f"{T}/{{of_chain}}dataset/questions.parquet",
        scenes=f"{T}/scenes/scenes.parquet",
    output:
        questions=f"{PUBLISHED}/{{of_chain}}questions.parquet",
        record=f"{PUBLISHED}/{{of_chain}}questions.parquet.prov.json",
    log:
        "logs/publish/{of_chain}questions.log",
    benchmark:
        f"{JOBS}/{{of_chain}}publish-questions.tsv"
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        code=code_of("publish_questions", language=LANGUAGE),
    shell:
        "python -m compvqa publish-questions {output.questions:q} --dataset {input.dataset:q} --scenes {input.scenes:q}"
        f"{LOG}"


for name, parts in SPLIT_PARTS.items():

    rule:
        name:
            re.sub(r"\W", "_", f"publish_{name}")
        input:
            questions=f"{PUBLISHED}/{OF_CHAIN[CHAIN_OF.get(name, '')]}questions.parquet",
            split=f"{T}/splits/{name}.parquet",
            images=data(list(CONFIG.images.values()) if PICTURES == "inline" else []),
        output:
            parts=expand(f"{FOLDER}/data/{name}/{{part}}.parquet", part=parts),
            record=f"{PUBLISHED}/{name}.prov.json",
        log:
            f"logs/publish/{name}.log",
        benchmark:
            f"{JOBS}/publish-{name}.tsv"
        conda:
            "../envs/data.yaml"
        container:
            CONTAINERS["data"]
        resources:
            mem_mb=memory(1000),
            runtime=minutes(30),
        params:
            config=data(HANDING if PICTURES == "inline" else as_json({})),
            pictures=data([*HANDED, *DRAWN] if PICTURES == "inline" else []),
            code=code_of("publish_split", language=LANGUAGE),
        shell:
            "python -m compvqa publish-split {output.parts:q} --questions {input.questions:q} --split {input.split:q}"
            " --record {output.record:q} {params.pictures:q} --config {params.config:q}"
            f"{LOG}"


if PICTURE_FILES:

    rule publish_pictures:
        input:
            questions=expand(rules.publish_questions.output.questions, of_chain=OF_CHAIN.values()),
            images=data(list(CONFIG.images.values())),
        output:
            pictures=PICTURE_FILES,
            record=f"{PUBLISHED}/images.prov.json",
        log:
            "logs/publish/images.log",
        benchmark:
            f"{JOBS}/publish-images.tsv"
        conda:
            "../envs/data.yaml"
        container:
            CONTAINERS["data"]
        resources:
            mem_mb=memory(2000),
            runtime=minutes(60),
        params:
            config=data(HANDING),
            pictures=data([*HANDED, *DRAWN]),
            archives=ARCHIVES,
            questions=lambda wildcards, input: repeated("--questions", input.questions),
            code=code_of("publish_pictures"),
        shell:
            "python -m compvqa publish-pictures {output.pictures:q} {params.questions:q} {params.pictures:q}"
            " {params.archives:q} --record {output.record:q} --config {params.config:q}"
            f"{LOG}"


rule publish_card:
    input:
        pictures=PICTURE_FILES,
        parts=[f"{FOLDER}/data/{name}/{part}.parquet" for name, parts in SPLIT_PARTS.items() for part in parts],
        questions=expand(rules.publish_questions.output.questions, of_chain=OF_CHAIN.values()),
        made=[f"{dataset_in(chain)}.prov.json" for chain in OF_CHAIN],
        datasets=[dataset_in(chain) for chain in OF_CHAIN],
        judged=JUDGED,
    output:
        card=f"{FOLDER}/README.md",
        croissant=f"{FOLDER}/croissant.json",
        record=f"{PUBLISHED}/card.prov.json",
    log:
        "logs/publish/card.log",
    benchmark:
        f"{JOBS}/publish-card.tsv"
    conda:
        "../envs/publish.yaml"
    container:
        CONTAINERS["publish"]
    resources:
        mem_mb=memory(2000),
        runtime=minutes(20),
    params:
        config=data(CONFIG.section("publish")),
        questions=lambda wildcards, input: repeated("--questions", input.questions),
        made=lambda wildcards, input: repeated("--made", input.made),
        doubt=lambda wildcards, input: [*repeated("--dataset", input.datasets), *repeated("--judged", input.judged)],
        datasheet=repeated("--datasheet", DATASHEET),
        answers=[DATASHEETS.digest(CONFIG.publish.datasheet)] if DATASHEET else [],
        splits=repeated("--split", [near(SPLITS.path(name)) for name in SPLIT_PARTS]),
        definitions=SPLITS.digest(*SPLIT_PARTS),
        raw=data(repeated("--raw", RAW)),
        world=data(DRAWN),
        testbed=CONFIG.testbed,
        licences=[[row.name, row.file, row.url, row.version, row.licence] for row in DOWNLOADS],
        look=files_digest(PROJECT / "workflow/compvqa/publish/templates"),
        code=code_of("publish_card", language=LANGUAGE, setups=sorted({setup_module(name) for name in SPLIT_PARTS})),
    shell:
        f"python -m compvqa publish-card {FOLDER} {{params.questions:q}} {{params.made:q}} {{params.doubt:q}} {{params.datasheet:q}}"
        " {params.splits:q} {params.raw:q} {params.world:q} --testbed {params.testbed:q} --record {output.record:q}"
        " --sources $PROJECT/config/sources.tsv --config {params.config:q}"
        f"{LOG}"


rule crate:
    input:
        f"{T}/manifest.json",
        targets=[
            *INDEX,
            *DIVIDED,
            *expand(f"{T}/splits/{{split}}.parquet", split=CONFIG.splits.names),
        ],
    output:
        crate=f"{T}/ro-crate-metadata.json",
        code=directory(f"{T}/code"),
        record=f"{T}/ro-crate-metadata.json.prov.json",
    log:
        "logs/crate.log",
    benchmark:
        f"{JOBS}/crate.tsv"
    conda:
        "../envs/publish.yaml"
    container:
        CONTAINERS["publish"]
    resources:
        mem_mb=memory(4000),
        runtime=minutes(30),
    params:
        config=data(CRATE),
        targets=lambda wildcards, input: repeated("--target", input.targets),
        code=code_of("crate"),
    shell:
        f"python -m compvqa crate {T} --project $PROJECT {{params.targets:q}}"
        " --sources $PROJECT/config/sources.tsv --config {params.config:q}"
        f"{LOG}"
