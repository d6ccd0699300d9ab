"""Names and ids that look like code go through the whole chain as data: SQL, CSV, HTML, LaTeX and file names."""

import csv
import json
import random
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from compvqa import tables
from compvqa.questions.tables import DATASET
from compvqa.scenes.raw import clean_name
from compvqa.scenes.tables import OBJECTS, REJECTS, SCENES
from fixtures.project import Project, copy_project

pytestmark = pytest.mark.xdist_group("faults")

LONG = "x" * 10_000
# No question could print these: they are rejected, and listed
REFUSED = [
    *('say "dog"', "`rm -rf`", "</script><script>alert(1)</script>", "{{ config }}", "$(touch evil)", "back\\slash"),
    *("a;drop table scenes", "a|b", "a\x00b", "a\ud800b", LONG, "<b>", "", "=cmd()", "*", "~"),
]
# These are fit to print, and mean something to a shell, SQL, CSV, HTML, LaTeX or a format string
KEPT = [
    "dog's",
    "cat & co",
    "50% cow",
    "$5 hat",
    "#1 mug",
    "snow_man",
    "a, b",
    "it''s",
    "%s tree",
    "سگ",
    "na\u0308if 🐕",
]
IDS = ["it's", '"1"', "</script>", "<b>", "{{1}}", "$(id)", "`id`", "%d", "a\\b", "a\nb", "\u202eabc", "../../x", LONG]


def scene(draw: random.Random, names: list[str]) -> dict:
    """A scene of five things, each in relation to the next; some have names that are refused."""
    things = {}
    for number in range(5):
        name = draw.choice(names) if number < 4 else draw.choice(REFUSED)
        box = {"x": 40 * number, "y": 10, "w": 35, "h": 35}
        relations = [{"name": draw.choice(["on", "at 'the' side of"]), "object": str((number + 1) % 4)}]
        look = [draw.choice(["50% red", "black & white"]), draw.choice(REFUSED)]
        things[str(number)] = {"name": name, "attributes": look, "relations": relations, **box}
    return {"width": 240, "height": 100, "objects": things}


@pytest.fixture(scope="module")
def hostile(root, tmp_path_factory) -> Project:
    """A project whose chain has run on such scenes."""
    project = copy_project(root, tmp_path_factory.mktemp("hostile") / "project")
    draw = random.Random(1)
    for part in ("train", "val"):
        scenes = {f"{part}{n}{IDS[n % len(IDS)]}": scene(draw, KEPT) for n in range(3 * len(IDS))}
        scenes["half \ud800"] = scene(draw, KEPT)
        (project.folder / f"{part}.json").write_text(json.dumps(scenes))
    (project.folder / "lexicon.json").write_text("{}")
    project.config = "config/hostile.yaml"
    config = {
        "testbed": "hostile",
        "shards": 1,
        "sources": [{"name": "mine", "reader": "gqa", "files": {"train": "train.json", "val": "val.json"}}],
        "lexicon": {"file": "lexicon.json"},
        "questions": {"templates": ["VERIFYATTR", "COUNT", "VERIFYCOUNT"]},
        "balance": {f"{part}_per_template": 40 for part in ("train", "dev", "test")},
        "models": {"baselines": ["maj"]},
        "scores": {"resamples": 20},
        "paper": {"title": "50% of </script> & $(names)", "show": ["sources", "table1"]},
    }
    (project.folder / project.config).write_text(yaml.safe_dump(config))
    project.run()
    return project


class Page(HTMLParser):
    """The tags of a page, its text, and what tells a browser to run code."""

    def __init__(self, page: Path):
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []
        self.handlers: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.words.append(data)


def test_what_cannot_be_printed_is_rejected_and_listed(hostile):
    assert all(clean_name(name)[0] is None for name in REFUSED)
    assert all(clean_name(name)[0] == name for name in KEPT)
    results = hostile.folder / "results/hostile"
    rejects = tables.read(results / "sources/mine/rejects.parquet", REJECTS).to_pylist()
    reasons = {row["reason"] for row in rejects}
    assert {"object: strange name", "attribute: strange name", "an id in it is no valid text"} <= reasons
    scenes = set(tables.read(results / "scenes/scenes.parquet", SCENES)["scene_id"].to_pylist())
    assert scenes == {f"mine:{part}{n}{IDS[n % len(IDS)]}" for part in ("train", "val") for n in range(3 * len(IDS))}
    assert set(tables.read(results / "scenes/objects.parquet", OBJECTS)["name"].to_pylist()) == set(KEPT)


def test_questions_are_asked_about_such_names_and_scenes(hostile):
    questions = tables.read(hostile.folder / "results/hostile/dataset/questions.parquet", DATASET).to_pylist()
    text = " ".join(row["text"] for row in questions)
    assert questions and sum(name in text for name in KEPT) >= len(KEPT) // 2
    shown = {scene for row in questions for scene in row["scene_ids"]}
    assert any(LONG in scene for scene in shown) and any("</script>" in scene for scene in shown)


def test_no_name_becomes_a_script(hostile):
    pages = sorted((hostile.folder / "results/hostile/paper").glob("*.html"))
    assert {"index.html", "questions.html", "sources.html", "table1.html"} == {page.name for page in pages}
    for path in pages:
        page, text = Page(path), path.read_text(encoding="utf-8")
        own = page.tags.count("script")
        assert own == (1 if path.name == "questions.html" else 0), path.name
        assert text.count("</script>") == own and not page.handlers


def test_latex_and_csv_stay_whole(hostile):
    for path in sorted((hostile.folder / "results/hostile/paper").glob("*.tex")):
        body = "".join(line for line in path.read_text(encoding="utf-8").splitlines(True) if line[0] != "%")
        plain = re.sub(r"\\[\\%&$#_{}]", "", body)
        depth = 0
        for character in plain:
            depth += (character == "{") - (character == "}")
            assert depth >= 0, path.name
        assert depth == 0 and not re.search(r"[%$#]", plain), path.name
        assert len({line.count("&") for line in plain.splitlines() if line.rstrip().endswith("&")}) <= 1
    for path in sorted((hostile.folder / "results/hostile/paper").glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            assert len({len(row) for row in csv.reader(file)}) == 1, path.name


def test_nothing_was_run_or_written_elsewhere(hostile):
    assert not list(hostile.folder.rglob("evil*"))
    assert {path.name for path in hostile.folder.parent.iterdir()} == {"project"}
