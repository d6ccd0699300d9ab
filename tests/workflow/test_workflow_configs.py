"""Every config that is shipped, and the README's own, plans in a clone with nothing beside it, and plans what its
tables and figures need."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
import yaml
from snakemake.utils import update_config

from compvqa.paper.needs import Plan, cells, filled
from compvqa.paper.reference import load
from fixtures.project import Project, copy_project

pytestmark = pytest.mark.xdist_group("configs")  # one process, so that each config is planned once
ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted(path.stem for path in (ROOT / "config").glob("*.yaml"))
ON_TOP_OF = {"demo-full": "config", "tiny-full": "tiny"}
ON_TOP_OF |= {"clevr-hope-nmn": "clevr-hope", "clevr-hope-medium-lxmert": "clevr-hope-medium"}
ON_TOP_OF |= {"clevr-hope-medium-raw": "clevr-hope-medium", "clevr-hope-grid": "clevr", "covr-pairs": "config"}
ON_TOP_OF |= {"covr-fine-tuned": "covr-released", "clevr-official-models": "clevr-official"}
PARAPHRASED = ("Development (paraphrased)", "Test (paraphrased)")
SIZES = (0, 50, 125, 250, 500, 1000, 2500, 5000, 10_000, 20_000, 33_000)  # of Figure 13
# Numbers of the paper that no run here can have: people were asked, generated questions have nobody's paraphrases, and
# released ones no scene graphs, of which easy distractors are made.
HUMANS = ("Humans", "Test (paraphrased)")
NEVER = {
    "covr": {
        *(("covr/table6", row, column) for row in ("MAJ", "MAJTEMPL", "VBText", "VBiid") for column in PARAPHRASED),
        *(("covr/table6", "VBEasyDistractors", column) for column in PARAPHRASED),
        ("covr/table6", *HUMANS),
        ("covr/findings", "paraphrases are harder", "Here"),
    },
    "covr-released": {
        *(("covr/table6", "VBEasyDistractors", column) for column in ("Development", "Test", *PARAPHRASED)),
        ("covr/table6", *HUMANS),
        ("covr/findings", "distractors matter", "Here"),
    },
    "covr-submission": {
        *(("covr-submission/table6", "LXMRandNeg", column) for column in ("Test", "Test (paraphrased)")),
        ("covr-submission/table6", *HUMANS),
    },
}
# How many trainings, and how many numbers they fill on how many pages. Tables 7, 14 and 16 have 11 x 5 each, Tables 8,
# 15 and 17 have 10 x 5, Tables 12 and 13 and the picture of the former 15 x 2; Figure 13 has 2 x 11, its table 2 x 4
# more, Section 5 makes 27 claims.
EXPECTED = {"covr": (128, 361, 11), "covr-released": (126, 502, 14), "covr-submission": (54, 244, 7)}


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """What a dry run of a shipped config says, in a clone of its own."""

    @cache
    def of(name: str) -> str:
        project = copy_project(ROOT, tmp_path_factory.mktemp(name) / "clone")
        project.config = f"config/{name}.yaml"
        if name in ON_TOP_OF:
            project.under = (f"config/{ON_TOP_OF[name]}.yaml",)
        if name == "simulated":  # what its first lines say is made before
            for source in yaml.safe_load((project.folder / project.config).read_text())["sources"]:
                write(project, {path: "{}" for path in source["files"].values()})
        return project.run("--dry-run").stdout

    return of


def write(project: Project, files: dict[str, str]) -> None:
    for path, text in files.items():
        (project.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (project.folder / path).write_text(text)


def outputs(said: str, pattern: str) -> set[str]:
    """What the outputs of planned jobs are called where they fit a pattern with one group."""
    lines = re.findall(r"^ +output: (.*)$", said, re.MULTILINE)
    return {match[1] for line in lines for path in line.split(", ") if (match := re.fullmatch(pattern, path))}


def plan_of(said: str, config: dict) -> tuple[Plan, set[str]]:
    """What a dry run will have, and the names of its trainings."""
    runs = outputs(said, r"results/[\w-]+/runs/(.+)/predictions\.parquet")
    baselines = outputs(said, r"results/[\w-]+/baselines/(.+)\.parquet")
    splits = outputs(said, r"results/[\w-]+/splits/([\w-]+)\.parquet")
    defined = {name: yaml.safe_load((ROOT / f"config/splits/{name}.yaml").read_text()) for name in splits}
    return (
        Plan(
            runs=frozenset(tuple(run.split(".")[:3]) for run in runs | baselines),
            trained=tuple({run.split(".")[0] for run in runs}),
            splits={name: definition["title"] for name, definition in defined.items()},
            setups={name: definition["setup"] for name, definition in defined.items()},
            sizes=SIZES,
            paraphrased=bool(outputs(said, r"results/[\w-]+/dataset/(paraphrases)\.parquet")),
            pages={name: load(ROOT / f"config/paper/{name}.yaml") for name in config["paper"]["show"]},
        ),
        runs,
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_config_plans_in_a_clone_its_dataset_all_its_splits_and_its_page(planned, name):
    said = planned(name)
    config: dict = {}
    for one in filter(None, (ON_TOP_OF.get(name), name)):
        update_config(config, yaml.safe_load((ROOT / f"config/{one}.yaml").read_text()))
    made = outputs(said, r"results/[\w-]+/(dataset/questions|paper/index|splits/[\w-]+)\.(?:parquet|html)")
    names = config["splits"]["names"]
    if config["dataset"].get("kind") == "clevr_hope":  # a chain for each pair, and no other
        chains = outputs(said, r"results/[\w-]+/pairs/([\w-]+)/dataset/questions\.parquet")
        assert chains == set(names) and made == {"paper/index", *(f"splits/{split}" for split in names)}
    else:
        assert made == {"dataset/questions", "paper/index"} | {f"splits/{split}" for split in names}


@pytest.mark.parametrize("name", NEVER)
def test_every_number_of_the_paper_has_a_run_behind_it(planned, name):
    config = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())
    plan, runs = plan_of(planned(name), config)
    numbers, missing = {}, set()
    for page, reference in plan.pages.items():
        for (row, column), has in filled(reference, plan.within(page.partition("/")[0])).items():
            if reference.rows and reference.value(row, column) is None:
                continue
            numbers.setdefault(page, []).append(has)
            missing |= set() if has else {(page, row, column)}
    assert missing == NEVER[name]
    assert (len(runs), sum(map(sum, numbers.values())), len(numbers)) == EXPECTED[name]
    needed = {answers for reference in plan.pages.values() for of in cells(reference, plan).values() for answers in of}
    seeds = config["models"]["seeds"]
    wanted = {f"{a.model}.{a.split}.{a.variant}.{seed}" for a in needed if a.model in plan.trained for seed in seeds}
    assert runs - wanted <= {f"vilbert-covr.iid.easy.{seed}" for seed in seeds}  # models.easy is of every model
    assert not {run for run in wanted - runs if ".easy." not in run}


def test_weights_that_the_authors_fine_tuned_are_fetched_and_asked_once_and_nothing_is_trained(planned):
    said = planned("covr-fine-tuned")
    assert outputs(said, r"results/[\w-]+/runs/(.+)/predictions\.parquet") == {"visualbert-fine-tuned.iid.iid.1"}
    rules = set(re.findall(r"^(?:local)?rule (\w+):$", said, re.MULTILINE))
    assert rules >= {"download_covr_model_model_tar_gz", "take_weights", "predict", "scores"}
    assert not rules & {"train", "pretrain", "seen_before"}


SCENES = {
    str(number): {
        "width": 100,
        "height": 100,
        "objects": {"1": {"name": "dog", "x": 1, "y": 1, "w": 50, "h": 50, "attributes": ["black"], "relations": []}},
    }
    for number in range(3)
}


def test_the_readme_s_config_for_own_scene_graphs_makes_what_it_says(tmp_path):
    (block,) = re.findall(r"```yaml\n(testbed: mine\n.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    project = copy_project(ROOT, tmp_path / "clone")
    files = {path: json.dumps(SCENES) for path in yaml.safe_load(block)["sources"][0]["files"].values()}
    write(project, {"mine.yaml": block} | files)
    project.config = "mine.yaml"
    said = project.run("--dry-run").stdout
    made = outputs(said, r"results/mine/(dataset/questions|paper/[\w/]+|splits/[\w-]+)\.(?:parquet|html|png)")
    assert made >= {"dataset/questions", "splits/iid", "splits/has-quant-all", "paper/index"}
    assert made >= {f"paper/{name}" for name in yaml.safe_load(block)["paper"]["show"]}
    assert {"ingest", "balance", "split", "index"} <= project.plan("dataset", "paper", "fetch", "publish", "crate")
