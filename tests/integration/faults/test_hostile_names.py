"""Names and ids that look like code go through the whole chain as data: SQL, CSV, HTML, LaTeX and file names."""

import csv
import json
import random
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from compvqa import tables
from compvqa.covr.questions.tables import DATASET, QUESTIONS
from compvqa.scenes.raw import clean_name
from compvqa.scenes.tables import OBJECTS, REJECTS, SCENES
from fixtures.project import Project, copy_project

pytestmark = pytest.mark.xdist_group("faults")

LONG = "x" * 10_000
# The readers, and reasons for which each refuses some of what follows
READERS = {
    "gqa": {"object: strange name", "attribute: strange name", "an id in it is no valid text"},
    "visual_genome": {"object: strange name", "attribute: strange name", "an id in it is no valid text"},
    "imsitu": {"object: noun id without a usable gloss", "an id in it is no valid text"},
}
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


def visual_genome(scene_id: str, scene: dict) -> dict:
    """A scene of GQA's shape in that of Visual Genome."""
    things = [
        {"object_id": number, "names": [thing["name"]], **{key: thing[key] for key in ("attributes", *"xywh")}}
        for number, thing in scene["objects"].items()
    ]
    relations = [
        {"subject_id": number, "predicate": relation["name"], "object_id": relation["object"]}
        for number, thing in scene["objects"].items()
        for relation in thing["relations"]
    ]
    return {"image_id": scene_id, "width": 240, "height": 100, "objects": things, "relationships": relations}


NOUNS = {f"n{number}": {"gloss": [name]} for number, name in enumerate([*KEPT, *REFUSED])}
SPACE = {
    "nouns": NOUNS,
    "verbs": {
        "man's": {"roles": ["agent", "item", "tool"], "abstract": "AGENT mans ITEM with TOOL"},
        "{{ x }}": {"roles": ["agent"], "abstract": "'; drop table scenes; --"},
    },
}


def imsitu(draw: random.Random) -> dict:
    """A picture of imSitu, of a verb with an apostrophe; some of its tools have names that are refused."""
    frame = {role: draw.choice(list(NOUNS)[:3]) for role in ("agent", "item")}
    return {
        "verb": draw.choice(["man's"] * 9 + list(SPACE["verbs"])),
        "frames": [frame | {"tool": draw.choice(list(NOUNS))}],
    }


def write_sources(folder: Path) -> list[dict]:
    """Files of all three readers in ``folder``; the config's sources."""
    draw = random.Random(1)
    sources = [{"name": reader, "reader": reader, "files": {}, "most_rejected": 1} for reader in READERS]
    (folder / "space.json").write_text(json.dumps(SPACE))
    (folder / "it's $raw").mkdir()
    sources[2]["files"]["space"] = "space.json"
    for part in ("train", "val"):
        ids = scene_ids(part)
        scenes = {scene_id: scene(draw, KEPT) for scene_id in [*ids, "half \ud800"]}
        made = [
            scenes,
            [visual_genome(scene_id, scene) for scene_id, scene in scenes.items()],
            {f"{scene_id}.jpg": imsitu(draw) for scene_id in scenes},
        ]
        for source, content in zip(sources, made, strict=True):
            source["files"][part] = f"it's $raw/{source['name']} {part}.json"
            (folder / source["files"][part]).write_text(json.dumps(content))
    return sources


def scene_ids(part: str) -> list[str]:
    return [f"{part}{number}{IDS[number % len(IDS)]}" for number in range(3 * len(IDS))]


@pytest.fixture(scope="module")
def hostile(root, tmp_path_factory) -> Project:
    """A project whose chain has run on such scenes."""
    project = copy_project(root, tmp_path_factory.mktemp("hostile") / "Ann's `work` & $more")
    (project.folder / "my lexicon.json").write_text("{}")
    project.config = "config/hostile.yaml"
    config = {
        "testbed": "hostile",
        "shards": 1,
        "sources": write_sources(project.folder),
        "lexicon": {"file": "my lexicon.json"},
        "dataset": {
            "kind": "covr",
            "questions": {"templates": ["VERIFYATTR", "COUNT", "VERIFYCOUNT"]},
            "balance": {f"{part}_per_template": 40 for part in ("train", "dev", "test")},
        },
        "models": {"baselines": ["maj"]},
        "scores": {"resamples": 20},
        "paper": {"title": "50% of </script> & $(names)", "show": ["covr/sources", "covr/table1"]},
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
    for reader, expected in READERS.items():
        rejects = tables.read(results / f"sources/{reader}/rejects.parquet", REJECTS).to_pylist()
        assert expected <= {row["reason"] for row in rejects}, reader
    found = Counter(tables.read(results / "scenes/scenes.parquet", SCENES)["scene_id"].to_pylist())
    ids = {scene_id for part in ("train", "val") for scene_id in scene_ids(part)}
    assert found.keys() >= {f"{reader}:{scene_id}" for reader in list(READERS)[:2] for scene_id in ids}
    assert found.keys() <= {
        f"{reader}:{scene_id}{'.jpg' * (reader == 'imsitu')}" for reader in READERS for scene_id in ids
    }
    assert set(tables.read(results / "scenes/objects.parquet", OBJECTS)["name"].to_pylist()) == set(KEPT)


def test_questions_are_asked_about_such_names_and_scenes(hostile):
    questions = tables.read(hostile.folder / "results/hostile/dataset/questions.parquet", DATASET).to_pylist()
    text = " ".join(row["text"] for row in questions)
    assert questions and sum(name in text for name in KEPT) >= len(KEPT) // 2
    asked = tables.read(hostile.folder / "results/hostile/questions/questions.parquet", QUESTIONS)
    shown = {scene for row in asked["scene_ids"].to_pylist() for scene in row}
    for reader in READERS:
        own = [scene for scene in shown if scene.startswith(f"{reader}:")]
        assert any(LONG in scene for scene in own) and any("</script>" in scene for scene in own), reader


def test_no_name_becomes_a_script(hostile):
    pages = sorted((hostile.folder / "results/hostile/paper").rglob("*.html"))
    assert {"index.html", "questions.html", "sources.html", "table1.html"} == {page.name for page in pages}
    for path in pages:
        page, text = Page(path), path.read_text(encoding="utf-8")
        own = page.tags.count("script")
        assert own == (1 if path.name == "questions.html" else 0), path.name
        assert text.count("</script>") == own and not page.handlers


def test_latex_and_csv_stay_whole(hostile):
    for path in sorted((hostile.folder / "results/hostile/paper").rglob("*.tex")):
        body = "".join(line for line in path.read_text(encoding="utf-8").splitlines(True) if line[0] != "%")
        plain = re.sub(r"%\n", "\n", re.sub(r"\\[\\%&$#_{}]", "", body))  # lines that are joined
        depth = 0
        for character in plain:
            depth += (character == "{") - (character == "}")
            assert depth >= 0, path.name
        assert depth == 0 and not re.search(r"[%$#]", plain), path.name
        assert len({line.count("&") for line in plain.splitlines() if line.rstrip().endswith("&")}) <= 1
    for path in sorted((hostile.folder / "results/hostile/paper").rglob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            assert len({len(row) for row in csv.reader(file)}) == 1, path.name


def test_nothing_was_run_or_written_elsewhere(hostile):
    assert not list(hostile.folder.rglob("evil*"))
    assert {path.name for path in hostile.folder.parent.iterdir()} == {hostile.folder.name}
