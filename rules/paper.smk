# Takes our tables; gives the tables and figures of papers, sample questions, a page for each paper with all of its tables
# and figures, and one page above them.
KINDS = {name: PAPER.load(name)["kind"] for name in CONFIG.paper.show}
TABLES = [name for name in CONFIG.paper.show if KINDS[name] == "table"]
FIGURES = [name for name in CONFIG.paper.show if KINDS[name] == "figure"]
PAPERS = {os.path.dirname(name): [] for name in CONFIG.paper.show}  # and their pages, in the config's order
for name in CONFIG.paper.show:
    PAPERS[os.path.dirname(name)].append(name)
# Other test-beds that have been run, by what pages call them: their contrasts, then the tables of their splits.
BESIDE_OF = {
    name: [made, *sorted(folder.glob("splits/*.parquet"))]
    for name, folder in CONFIG.paper.beside.items()
    if (made := folder / "evaluation/contrasts.parquet").is_file()
}
# What a table or figure may read, by the names used in config/paper: the files that the rule waits for, and the
# inputs that the command is given where they are not these files.
SHOWN |= {
    "scores": [f"{T}/evaluation/scores.parquet"],
    "dataset": DIVIDED[:1],
    "contrasts": [f"{T}/evaluation/contrasts.parquet"],
    "tallies": [f"{T}/evaluation/tallies.parquet"],
    "splits": expand(rules.split.output.split, split=ANSWERED),
    "definitions": [],
    "models": [],
    "histories": [f"{T}/runs/{run}/history.parquet" for run in TRAINED],
    "images": list(CONFIG.images.values()),
    "replies": [f"{T}/asked/{run}.replies.parquet" for run in ASKED],
    "templates": [],
    "beside": [path for files in BESIDE_OF.values() for path in files],
    # other tables, if they are shown
    **{f"{name}.csv": [f"{T}/paper/{name}.csv"] * (name in TABLES) for name in PAPER.names()},
}
if CONFIG.sources:
    SHOWN["scenes"] = rules.scenes.output.tables
    SHOWN["sources"] = expand(
        f"{T}/sources/{{source}}/{{table}}.parquet",
        source=[source.name for source in CONFIG.sources],
        table=[*SCENE_TABLES, "rejects"],
    )
GIVEN |= {
    "sources": [f"sources={T}/sources/{source.name}" for source in CONFIG.sources],
    "scenes": [f"scenes={T}/scenes"],
    "images": [f"images:{space}={folder}" for space, folder in CONFIG.images.items()],
    "beside": [f"beside:{name}={path}" for name, files in BESIDE_OF.items() for path in files],
}
OWN = {"templates": TEMPLATES.folders, "definitions": SPLITS.folders, "models": MODELS.folders}
for name in CONFIG.paper.show:
    for what, files in read_by(name).items():
        if files is None:
            raise WorkflowError(
                f"paper.show names {name}, which needs {what}: datasets of the kind {DATASET.kind} have none; leave it out."
            )
REQUIRED["histories"] = "a trained model: name one in models.trained"
if not RUNS:
    SHOWN["tallies"] = []
REQUIRED["tallies"] = "a trained model: name one in models.trained and what it is trained on in models.splits"
PAGES = {name: load_page(PAPER.path(name)) for name in CONFIG.paper.show}
PLAN = Plan(
    runs=frozenset(tuple(run.split(".")[:3]) for run in [*RUNS, *BASELINES, *ASKED]),
    trained=CONFIG.models.trained,
    splits={name: SPLITS.load(name).get("title", name) for name in CONFIG.splits.names},
    setups={name: SPLITS.load(name).get("setup", "") for name in CONFIG.splits.names},
    sizes=CONFIG.models.curve.sizes,
    paraphrased=bool(PARAPHRASES),
    pages=PAGES,
    facets=CONFIG.scores.facets,
)
for name, page in PAGES.items():
    needed = [f"it needs {REQUIRED[what]}" for what in page.inputs if what in REQUIRED and not SHOWN[what]]
    made_of = {shown.contrast for shown in page.shows.values() if shown.contrast}
    made_of |= {"difference"} if "above" in page.options else set()
    made_of |= {page.options["contrast"]} if "contrast" in page.options else set()
    needed += [
        f"it shows the contrast {contrast}: name that in scores.contrasts"
        for contrast in sorted(made_of - {*CONFIG.scores.contrasts})
    ]
    if why := next(filter(None, [*needed, lacking(page, PLAN.within(os.path.dirname(name)))]), ""):
        raise WorkflowError(
            f"config: paper.show names {name}, of which nothing can be made: {why}, or leave {name} out."
        )


wildcard_constraints:
    table="|".join(TABLES) or "none",
    figure="|".join(FIGURES) or "none",
    paper="|".join(PAPERS) or "none",


rule table:
    input:
        lambda wildcards: shown(wildcards.table),
    output:
        html=report(
            f"{T}/paper/{{table}}.html",
            caption="../workflow/report/made.rst",
            category="Tables",
            labels=lambda wildcards: titles(wildcards.table),
        ),
        csv=f"{T}/paper/{{table}}.csv",
        tex=f"{T}/paper/{{table}}.tex",
        record=f"{T}/paper/{{table}}.prov.json",
    log:
        "logs/paper/{table}.log",
    benchmark:
        f"{JOBS}/paper/{{table}}.tsv"
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000, 8),
        runtime=minutes(20, 0.005),
    params:
        page=lambda wildcards: near(PAPER.path(wildcards.table)),
        inputs=lambda wildcards: given(wildcards.table),
        definition=lambda wildcards: definition(wildcards.table),
        caption=lambda wildcards: PAPER.load(wildcards.table).get("caption", ""),
        said=data(
            repeated("--apart", [CONFIG.paper.apart] * bool(CONFIG.paper.apart))
            + repeated("--note", [CONFIG.paper.note] * bool(CONFIG.paper.note))
        ),
        look=LOOK,
        code=lambda wildcards: stage_code("table", make=PAPER.load(wildcards.table)["make"]),
    shell:
        "python -m compvqa table {params.page:q} {params.inputs:q} {params.said:q}"
        f" --out {T}/paper/{{wildcards.table:q}}{LOG}"


rule figure:
    input:
        lambda wildcards: shown(wildcards.figure),
    output:
        png=report(
            f"{T}/paper/{{figure}}.png",
            caption="../workflow/report/made.rst",
            category="Figures",
            labels=lambda wildcards: titles(wildcards.figure),
        ),
        pdf=f"{T}/paper/{{figure}}.pdf",
        record=f"{T}/paper/{{figure}}.prov.json",
    log:
        "logs/paper/{figure}.log",
    benchmark:
        f"{JOBS}/paper/{{figure}}.tsv"
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000),
        runtime=minutes(20),
    params:
        page=lambda wildcards: near(PAPER.path(wildcards.figure)),
        inputs=lambda wildcards: given(wildcards.figure),
        definition=lambda wildcards: definition(wildcards.figure),
        caption=lambda wildcards: PAPER.load(wildcards.figure).get("caption", ""),
        code=lambda wildcards: stage_code("figure", make=PAPER.load(wildcards.figure)["make"]),
    shell:
        "python -m compvqa figure {params.page:q} {params.inputs:q}" f" --out {T}/paper/{{wildcards.figure:q}}{LOG}"


rule samples:
    input:
        dataset=DIVIDED[0],
        scenes=SCENE_FILES,
        images=data(list(CONFIG.images.values())),
    output:
        page=report(
            f"{T}/paper/questions.html",
            caption="../workflow/report/questions.rst",
            category="Samples",
            labels={"what": "Sample questions", "of": "our data"},
        ),
        record=f"{T}/paper/questions.html.prov.json",
    log:
        "logs/paper/questions.log",
    benchmark:
        f"{JOBS}/paper-questions.tsv"
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000, 8),
        runtime=minutes(20, 0.005),
    params:
        config=data(CONFIG.section("samples")),
        images=data(repeated("--images", [f"{space}={folder}" for space, folder in CONFIG.images.items()])),
        seed=CONFIG.seed,
        look=LOOK,
        code=code_of("samples", language=LANGUAGE),
    shell:
        f"python -m compvqa samples {{output.page:q}} --dataset {{input.dataset:q}} --scenes {T}/scenes"
        f" {{params.images:q}}{STAGE}"


rule index:
    input:
        lambda wildcards: [
            f"{T}/paper/{name}.{'html' if KINDS[name] == 'table' else 'png'}" for name in PAPERS[wildcards.paper]
        ],
        page=rules.samples.output.page,
    output:
        page=report(
            f"{T}/paper/{{paper}}/index.html",
            caption="../workflow/report/index.rst",
            category="All on one page",
            labels=lambda wildcards: {"what": "All tables and figures", "of": wildcards.paper},
        ),
        record=f"{T}/paper/{{paper}}/index.html.prov.json",
    log:
        "logs/paper/{paper}/index.log",
    benchmark:
        f"{JOBS}/paper/{{paper}}/index.tsv"
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000),
        runtime=minutes(20),
    params:
        show=lambda wildcards: repeated("--show", [near(PAPER.path(name)) for name in PAPERS[wildcards.paper]]),
        title=lambda wildcards: CONFIG.paper.title + (f": {wildcards.paper}" if len(PAPERS) > 1 else ""),
        links=data(
            repeated(
                "--link", [f"What models replied (behind a web server)={T}/asked/viewer/index.html"] * bool(ASKED)
            )
        ),
        definitions=lambda wildcards: PAPER.digest(*PAPERS[wildcards.paper]),
        look=LOOK,
        code=code_of("index"),
    shell:
        f"python -m compvqa index {{output.page:q}} --folder {T}/paper/{{wildcards.paper:q}}"
        " {params.show:q} --title={params.title:q} {params.links:q}"
        f" --page {{input.page:q}}{LOG}"


rule contents:
    input:
        expand(rules.index.output.page, paper=PAPERS),
        rules.samples.output.page,
    output:
        page=report(
            f"{T}/paper/index.html",
            caption="../workflow/report/contents.rst",
            category="All on one page",
            labels={"what": "All papers", "of": "our data"},
        ),
        record=f"{T}/paper/index.html.prov.json",
    log:
        "logs/paper/index.log",
    benchmark:
        f"{JOBS}/paper/index.tsv"
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(2000),
        runtime=minutes(20),
    params:
        title=data(CONFIG.paper.title),
        look=LOOK,
        code=code_of("contents"),
    shell:
        "python -m compvqa contents {output.page:q} {input:q} --title={params.title:q}" f"{LOG}"
