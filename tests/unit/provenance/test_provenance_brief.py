"""The short audit of a split says the same of a small run and of a large one, in as many lines."""

import pytest
from rich.console import Console

from compvqa.provenance import brief, telling

STAGES = [f"stage_{n}" for n in range(25)]


def step(number: int, part: int, parts: int) -> dict:
    """One of ``parts`` steps of a stage (of several recipes), which reads from the stage before it."""
    return {
        "stage": STAGES[number],
        "recipe": f"{number}.{part}",
        "records": [f"results/bed/{number}/{part}.prov.json"] * parts,
        "counts": {"in": 1000, "out": 10, "dropped: too few": 2, "dropped: too many": 3},
        "facts": {},
        "settings": {},
        "after": [f"{number - 1}.0"] if number else [],
        "given": {f"data/{n}.json": "0" for n in range(parts)} if number == 1 else {},
    }


def told(many: int) -> dict:
    """The audit of a split that ``many`` shards, models, files and sources were behind."""
    table = {"images": 5, "pairs": 10, "both": 0, "saw": 7, "first": None, "missing": []}
    scene = {"scene_id": "gqa:1", "record": 1, "file": "a.json", "role": "start", "presence": [{"p": 0.25}] * many}
    question = {"text": "Are all dogs black?", "question_id": "q", "template": "T", "answer": "true", "part": "dev"}
    raw = [
        {
            "file": f"resources/{n}/{m}.json",
            "sha256": "5" * 64,
            "from": "download",
            "url": f"https://{n}",
            "licence": "MIT",
            "trust": "pinned",
        }
        for n in range(many)
        for m in range(2)
    ]
    return {
        "split": {
            "name": "iid",
            "recipe": "24.0",
            "seed": 1,
            "parts": {"dev": 1},
            "definition": {"name": "iid"},
            "drawn": [],
        },
        "steps": [step(number, part, many) for number in range(len(STAGES)) for part in range(many)],
        "raw": [{"file": "data/0.json", "sha256": "0" * 64, "from": "given"}] * 2 + raw,
        "guard": {"leak guard: images of train": 4},
        "folds": [table | {"table": str(n), "model": f"m/{fold}"} for n in range(many) for fold in range(5)],
        "examples": [{"question": question, "splits": {}, "scenes": [scene] * 5, "trace": [1], "again": "true"}] * 3,
    }


def printed(words) -> str:
    console = Console(width=160)
    with console.capture() as capture:
        console.print(words, highlight=False)
    return capture.get()


@pytest.mark.parametrize("many", [1, 2, 100])
def test_it_has_at_most_80_lines(many):
    assert len(printed(brief.text(told(many))).splitlines()) <= 80


def test_each_stage_source_and_model_has_a_line_with_all_its_runs():
    text = printed(brief.text(told(3)))
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in text.splitlines() if line}
    assert lines["stage_2"] == "9 3,000 30 15 (too many) stage_1"
    assert lines["stage_1"].endswith("stage_0, 3 given files")
    assert (
        lines["resources/1:"] == "2 files from https://1 (MIT, pinned)"
        and lines["data/0.json"] == "given sha256 " + "0" * 64
    )
    assert lines["m/4"] == "scored 30 pairs in 3 tables, was trained on 7 images: none seen"
    assert lines["gqa:1:"].endswith("the scene that the subgraph was found in; 3 opinions of filters, p 0.250 to 0.250")
    assert "program (1 rows) gives true" in text and "--all tells each step" in text


def test_an_image_that_was_seen_and_a_table_that_is_gone_are_told():
    data = told(1)
    data["folds"][0]["both"], data["folds"][1]["missing"] = 2, ["x.parquet"]
    lines = printed(brief.text(data)).splitlines()
    assert "m/0 scored 10 pairs in 1 tables, was trained on 7 images: 2 SEEN" in map(str.strip, lines)
    assert any(line.startswith("m/1") and "not checked; 1 tables not checked" in line for line in lines)
    assert "no image filter had a part" in printed(brief.text(data | {"folds": []}))


def test_of_another_output_it_tells_the_same_way_back():
    data = told(2) | {"files": ["results/bed/a.csv", "results/bed/b.csv"], "recipe": "24.0"}
    text = printed(brief.way(data))
    assert text.startswith("results/bed/a.csv and 1 more of its recipe, recipe 24.0") and "stage_24" in text
    assert len(text.splitlines()) < len(printed(telling.way(data)).splitlines())


def test_what_a_stage_learned_of_its_surroundings_has_one_line_for_all_its_runs():
    data = told(3) | {"files": ["results/bed/a.csv"], "recipe": "24.0"}
    for made in data["steps"][-3:]:
        made["facts"] = {"graph": "b3ee", "server": "Neo4j 5.26.30 community"}
    lines = [line.rstrip() for line in printed(brief.way(data)).splitlines()]
    assert lines.count("stage_24: graph b3ee, server Neo4j 5.26.30 community") == 1
