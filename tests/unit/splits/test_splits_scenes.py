"""Properties that look at a question's scenes."""

import pytest

from compvqa import tables
from compvqa.covr import properties
from compvqa.covr.properties import Property, Question, predicate
from compvqa.covr.questions.tables import DATASET
from compvqa.errors import InputError
from compvqa.scenes import asked
from compvqa.splits.splitters import SPLITS, SplitSettings, guard, split
from unit.covr.questions.question_worlds import write_world
from unit.splits.test_splits_splitters import question

CROWDED = Property(
    "CROWDED",
    "a scene has so many objects",
    lambda asked, value: any(len(graph.objects) >= int(value) for graph in asked.scenes),
    "a number",
    bare=False,
)
SPLIT = {"name": "crowded", "setup": "zero-shot", "property": "CROWDED-6 and HAS-COUNT"}
PARTS = ("train", "dev", "test")


@pytest.fixture
def bed(tmp_path, monkeypatch):
    """Questions about a scene each, of which the property above is asked."""
    monkeypatch.setattr(properties, "PROPERTIES", (*properties.PROPERTIES, CROWDED))
    write_world(tmp_path, 30, 1)
    objects = tables.read(tmp_path / "scenes/objects.parquet")["scene_id"].to_pylist()
    scenes = sorted(set(tables.read(tmp_path / "scenes/scenes.parquet")["scene_id"].to_pylist()))
    made = [question(n, PARTS[n % 3], False) | {"scene_ids": [scene]} for n, scene in enumerate(scenes)]
    tables.write(tmp_path / "dataset.parquet", DATASET, made)
    crowded = {row["question_id"] for row in made if objects.count(row["scene_ids"][0]) >= 6}
    assert 0 < len(crowded) < len(made)
    return tmp_path, made, crowded


def make(folder, definition):
    scenes = folder / "scenes/scenes.parquet"
    split(folder / "dataset.parquet", definition, None, folder / "split.parquet", SplitSettings(), 1, scenes)
    return tables.read(folder / "split.parquet", SPLITS).to_pylist()


def test_a_split_may_hold_out_what_a_scene_has(bed):
    folder, made, crowded = bed
    rows = make(folder, SPLIT)
    of = {part: {row["question_id"] for row in made if row["part"] == part} for part in PARTS}
    found = {part: {row["question_id"] for row in rows if row["part"] == part} for part in {r["part"] for r in rows}}
    assert found["train"] == of["train"] - crowded
    assert (found["dev_comp"], found["test_comp"]) == (of["dev"] & crowded, of["test"] & crowded)
    given = (folder / "split.parquet", folder / "dataset.parquet", SPLIT, None, SplitSettings(), 1)
    assert guard(*given, folder / "scenes/scenes.parquet")["leak guard: questions of train with what is held out"] == 0


def test_the_tables_of_scenes_are_read_only_if_a_property_looks_at_them(bed, monkeypatch):
    folder, _, _ = bed
    opened = []
    monkeypatch.setattr(asked, "SceneStore", lambda path: opened.append(path))
    make(folder, SPLIT | {"property": "HAS-COUNT and HAS-ATTR"})
    assert not opened
    with pytest.raises(AttributeError):
        make(folder, SPLIT)
    assert opened == [folder / "scenes"]


def test_a_stage_without_scenes_says_so():
    holds = CROWDED.holds
    with pytest.raises(InputError, match="looks at the scenes of questions, and this stage reads none"):
        holds(Question("COUNT", "1", "[]", None), "6")
    with pytest.raises(InputError, match="there is no property 'CROWDED-6'"):
        predicate("CROWDED-6")
