"""A pair that is drawn from the data and held out of train's questions and scenes; its diversity and its gap."""

import json
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from compvqa import query, tables
from compvqa.covr.questions.tables import DATASET
from compvqa.errors import InputError
from compvqa.evaluation.contrasts import systematicity_gap
from compvqa.evaluation.intervals import Resampling
from compvqa.programs.rows import Row, to_json
from compvqa.scenes.graph import Object, SceneGraph
from compvqa.splits.held import held_pair, tell_held
from compvqa.splits.splitters import SPLITS, SplitSettings, guard, split
from unit.covr.subgraphs.graph_worlds import write_scenes
from unit.splits.test_splits_drawn import row

NOUNS, COLORS, MATERIALS = ("cat", "cup", "car"), ("red", "blue", "green", "gray"), ("wooden", "metal")
GROUPS = dict.fromkeys(COLORS, "color") | dict.fromkeys(MATERIALS, "material")
KEPT = {"kind": "pair", "least_alone": 4, "least_together": 2}
PARTS = {"train": "train", "val": "dev", "test": "test"}


def program(noun: str, attribute: str) -> str:
    return to_json([Row("Find", (noun,)), Row("Filter", (attribute,), (0,)), Row("Count", (), (1,))])


@pytest.fixture
def bed(tmp_path):
    """On each side four scenes of each thing: a noun, a color and a material. Of each scene the noun is asked for with
    either attribute, and once another thing."""
    rng, scenes, made = np.random.default_rng(1), [], []
    for part in ("train", "dev", "test"):
        things = [thing for thing in product(NOUNS, COLORS, MATERIALS) for _ in range(4)]
        for number, (noun, color, material) in enumerate(things):
            graph = SceneGraph(
                f"w:{part}{number:03}", {"0": Object("0", noun, {k: GROUPS[k] for k in (color, material)})}
            )
            scenes.append(graph)
            other = (str(rng.choice(NOUNS)), str(rng.choice(COLORS)))
            for asked in ((noun, color), (noun, material), other):
                found = row(len(made), part, "", ()) | {"program": program(*asked), "scene_ids": [graph.scene_id]}
                made.append(found)
    write_scenes(tmp_path / "scenes", scenes)
    tables.write(tmp_path / "dataset.parquet", DATASET, made)
    shown = {graph.scene_id: {graph.objects["0"].name, *graph.objects["0"].attributes} for graph in scenes}
    asked = {q["question_id"]: {a for row in json.loads(q["program"]) for a in row[1]} for q in made}
    return tmp_path, {q["question_id"]: (q["part"], asked[q["question_id"]], shown[q["scene_ids"][0]]) for q in made}


def hold_out(folder, **drawn):
    definition = {"name": "drawn", "setup": "held-out-pair", "drawn": {**KEPT, **drawn}}
    files = folder / "dataset.parquet", definition, None, folder / "split.parquet", SplitSettings(least_seen=1)
    counts = split(*files, 1, folder / "scenes/scenes.parquet")
    found = {}
    for one in tables.read(folder / "split.parquet", SPLITS).to_pylist():
        found.setdefault(one["part"], set()).add(one["question_id"])
    return definition, counts, found


@pytest.mark.parametrize("group", ["color", "material"])
def test_train_neither_says_nor_shows_a_held_out_pair(bed, group):
    folder, questions = bed
    definition, counts, parts = hold_out(folder, group=group)
    told = held_pair(folder / "split.parquet")
    pair = {*told.pair}
    assert told.kinds == ("name", group) and told.pair[0] in NOUNS and GROUPS[told.pair[1]] == group
    for name, side in (("train", "train"), ("dev_iid", "dev"), ("test_iid", "test")):
        free = {
            q for q, (part, asked, shown) in questions.items() if part == side and not (pair <= asked or pair <= shown)
        }
        assert parts[name] == free
    assert parts["test_ood"] == {q for q, (part, asked, _) in questions.items() if part == "test" and pair <= asked}
    assert any(pair <= questions[q][2] and not pair <= questions[q][1] for q in questions)  # shown, not asked: left out
    alike = {q for q in parts["test_iid"] if any(GROUPS.get(word) == group for word in questions[q][1])}
    assert parts["test_matched"] == alike < parts["test_iid"]
    # all nouns go with all attributes: the diversity is that of the whole vocabulary, the pair counted
    many = len(NOUNS) * len({"color": COLORS, "material": MATERIALS}[group])
    assert told.diversity == counts["diversity of the pair"] == many
    assert guard(
        folder / "split.parquet", folder / "dataset.parquet", definition, None, SplitSettings(), 1,
        folder / "scenes/scenes.parquet",
    )["leak guard: questions of train with what is held out"] == 0  # fmt: skip


def test_each_draw_is_another_pair_until_there_are_none(bed):
    folder, _ = bed
    pairs = set()
    for draw in (1, 2, 3):
        hold_out(folder, group="material", draw=draw)
        pairs.add(held_pair(folder / "split.parquet").pair)
    assert len(pairs) == 3 and pairs <= set(product(NOUNS, MATERIALS))
    with pytest.raises(
        InputError, match=r"draw 7 of a pair: 6 pairs of .* of material .* of 6 of them .*: give a smaller draw, lower"
    ):
        hold_out(folder, group="material", draw=7)


def test_a_scene_with_the_pair_in_train_is_a_leak(bed):
    folder, questions = bed
    definition, _, _ = hold_out(folder, group="color")
    pair = {*held_pair(folder / "split.parquet").pair}
    shows = [q for q, (part, asked, shown) in questions.items() if part == "train" and pair <= shown - asked]
    rows = tables.read(folder / "split.parquet", SPLITS).to_pylist()
    rows.append(next(one for one in rows if one["part"] == "train") | {"question_id": shows[0]})
    tables.write(folder / "split.parquet", SPLITS, rows)
    with pytest.raises(InputError, match="leaks: 1 questions in train have the held-out property"):
        guard(
            folder / "split.parquet", folder / "dataset.parquet", definition, None, SplitSettings(), 1,
            folder / "scenes/scenes.parquet",
        )  # fmt: skip


def test_the_gap_is_of_the_two_parts_that_the_split_compares(bed):
    folder, _ = bed
    _, _, parts = hold_out(folder, group="color")
    right = {"test_ood": 0.25, "test_iid": 0.75, "test_matched": 0.5}
    rows = [
        {
            "run": run,
            "split": "drawn",
            "part": part,
            "text": "generated",
            "question_id": q,
            "unit": q,
            "correct": int(good),
        }
        for run, more in (("m.drawn.comp.1", 0), ("m.drawn.comp.2", 1), ("m.iid.iid.1", 0))
        for part, share in right.items()
        for number, q in enumerate(sorted(parts[part]))
        for good in [run.startswith("m.iid") or number < share * len(parts[part]) + more]
    ]
    with query.connect(folder) as db:
        db.register("graded", pa.Table.from_pylist(rows))
        tell_held(db, [folder / "split.parquet"])
        found = {row["value"]: row for row in systematicity_gap.rows(db, Resampling(resamples=400), 1)}
    assert set(found) == {"test_iid", "test_matched"}
    for without, told in found.items():
        of = {
            part: np.mean([row["correct"] for row in rows if row["part"] == part and row["run"] != "m.iid.iid.1"])
            for part in (without, "test_ood")
        }
        assert told["score"] == pytest.approx(of["test_ood"] - of[without])
        assert (told["part"], told["n"], told["seeds"]) == ("test_ood", len(parts["test_ood"]), 2)
        # two shares of so many questions, drawn apart
        error = np.sqrt(sum(share * (1 - share) / len(parts[part]) for part, share in of.items()))
        assert told["high"] - told["low"] == pytest.approx(3.92 * error, rel=0.25)
