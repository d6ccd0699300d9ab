"""Drawn properties: programs and pairs of names that train never sees."""

from collections import Counter
from itertools import combinations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.questions.tables import DATASET
from compvqa.errors import InputError
from compvqa.paper.data import plain
from compvqa.programs.rows import Row, to_json
from compvqa.settings import Settings
from compvqa.splits.splitters import SPLITS, SplitSettings, read_definition, split

PROGRAMS = {"name": "program-1", "setup": "zero-shot", "drawn": {"kind": "programs", "share": 0.2}}
PAIRS = {"name": "lexical-1", "setup": "zero-shot"}
NOUNS, ATTRIBUTES = ("cat", "dog", "cup"), ("red", "old", "wet")
COMP_PARTS = ("dev_comp", "test_comp")


def program(noun: str, attributes: tuple[str, ...]) -> list[Row]:
    rows = [Row("Find", (noun,))]
    rows += [Row("Filter", (attribute,), (number,)) for number, attribute in enumerate(attributes)]
    return [*rows, Row("Count", (), (len(rows) - 1,))]


questions_of = st.lists(
    st.tuples(
        st.sampled_from(["train", "train", "dev", "test"]),
        st.sampled_from(NOUNS),
        st.lists(st.sampled_from(ATTRIBUTES), unique=True).map(tuple),
    ),
    min_size=1,
    max_size=60,
)


def row(number: int, part: str, noun: str, attributes: tuple[str, ...]) -> dict:
    side = "train" if part == "train" else "val"
    return {
        "question_id": f"{number:05d}",
        "testbed": "covr",
        "split": side,
        "part": part,
        "template": "COUNT",
        "text": f"{part} text {number}",
        "annotator_text": "",
        "program": to_json(program(noun, attributes)),
        "answer": "1",
        "scene_ids": [f"{side}:1", f"{side}:2"],
        "seed": number,
        "subgraph_key": 1,
        "start_scene": f"{side}:1",
        "tree": '["cat",null,[]]',
        "size": 1,
        "depth": 1,
    }


def split_up(folder, questions, definition, seed=0):
    """The questions of each part, as (noun, attributes), and the counts."""
    dataset, out = folder / "dataset.parquet", folder / "split.parquet"
    tables.write(dataset, DATASET, [row(number, *given) for number, given in enumerate(questions)])
    counts = split(dataset, definition, None, out, SplitSettings(), seed)
    parts: dict[str, list] = {}
    for found in tables.read(out, SPLITS).to_pylist():
        parts.setdefault(found["part"], []).append(questions[int(found["question_id"])][1:])
    return parts, counts


@settings(max_examples=40, deadline=None)
@given(questions_of, st.integers(0, 3))
def test_no_structure_of_a_held_out_program_is_in_train(tmp_path_factory, questions, seed):
    """The structure of these programs is how many attributes they filter by."""
    parts, counts = split_up(tmp_path_factory.mktemp("split"), questions, PROGRAMS, seed)
    known = {len(attributes) for _, _, attributes in questions}
    held_out = {len(attributes) for part in COMP_PARTS for _, attributes in parts.get(part, [])}
    kept = {len(attributes) for part in ("train", "dev_iid") for _, attributes in parts.get(part, [])}
    assert not held_out & kept and held_out | kept | set(range(4)) >= known
    assert (counts["programs"], counts["programs held out"]) == (len(known), round(0.2 * len(known)))
    assert len(held_out) <= counts["programs held out"]


@settings(max_examples=60, deadline=None)
@given(questions_of, st.integers(1, 4), st.integers(0, 3), st.integers(1, 3), st.integers(0, 3))
def test_held_out_pairs_are_apart_in_train_and_their_names_are_common(
    tmp_path_factory, questions, most, least_alone, least_together, number
):
    drawn = {"kind": "pairs", "pairs": most, "least_alone": least_alone, "least_together": least_together}
    definition = PAIRS | {"drawn": drawn | {"draw": number}}
    parts, counts = split_up(tmp_path_factory.mktemp("split"), questions, definition)
    pairs = [tuple(key.removeprefix("held out: ").split(" + ")) for key in counts if key.startswith("held out: ")]
    names = {part: [{noun, *attributes} for noun, attributes in rows] for part, rows in parts.items()}
    for x, y in pairs:
        assert not any({x, y} <= both for both in names.get("train", []))
        assert all(sum(name in both for both in names.get("train", [])) >= least_alone for name in (x, y))
        together = sum({x, y} <= {noun, *attributes} for part, noun, attributes in questions if part != "train")
        assert together == counts[f"held out: {x} + {y}"] >= least_together
    for part in COMP_PARTS:
        assert all(any({x, y} <= both for x, y in pairs) for both in names.get(part, []))
    assert len(pairs) == counts["pairs held out"] <= most
    assert (len(pairs) < most) == (f"fewer pairs than {most} can be held out" in counts)


def test_all_pairs_that_may_be_held_out_are_found(tmp_path):
    """With nothing asked of train but to know the names, every pair of dev and test that train's rest allows is one."""
    questions = [("train", noun, ()) for noun in NOUNS] + [("train", "bed", (a,)) for a in ATTRIBUTES]
    questions += [("dev", noun, (a,)) for noun in NOUNS for a in ATTRIBUTES]
    drawn = {"kind": "pairs", "pairs": 50, "least_alone": 1, "least_together": 1}
    _, counts = split_up(tmp_path, questions, PAIRS | {"drawn": drawn})
    expected = Counter(tuple(sorted((noun, a))) for noun in NOUNS for a in ATTRIBUTES)
    assert {f"held out: {x} + {y}" for x, y in expected} == {key for key in counts if key.startswith("held out: ")}


def test_draws_are_apart_as_far_as_there_are_pairs(tmp_path):
    questions = [("train", noun, ()) for noun in NOUNS] + [("train", "bed", (a,)) for a in ATTRIBUTES]
    questions += [("dev", noun, pair) for noun in NOUNS for pair in combinations(ATTRIBUTES, 2)]
    drawn = {"kind": "pairs", "pairs": 3, "least_alone": 1, "least_together": 1}
    before: set[str] = set()
    for number in range(1, 9):
        _, counts = split_up(tmp_path, questions, PAIRS | {"drawn": drawn | {"draw": number}})
        found = {key for key in counts if key.startswith("held out: ")}
        assert counts["pairs held out by an earlier draw too"] == len(before & found)
        assert not before & found or len(before) + 3 > counts["pairs to choose from"]
        before |= found
    assert len(before) == counts["pairs to choose from"]


def test_every_split_of_the_papers_tables_is_defined(root):
    """Tables 7 and 8: 11 few-shot splits, 8 zero-shot ones, and three draws of programs and of pairs; the
    submission has one more of each setup."""
    definitions = [
        read_definition(yaml.safe_load(p.read_text())) for p in sorted((root / "config/splits").glob("*.yaml"))
    ]
    for table, setup in (("table7", "few-shot"), ("table8", "zero-shot")):
        pages = [root / f"config/paper/{paper}/{table}.yaml" for paper in ("covr", "covr-submission")]
        rows = [label for page in pages for label in yaml.safe_load(page.read_text())["rows"]]
        titles = {plain(one.title) for one in definitions if one.setup == setup}
        assert titles == {plain(label) for label in rows}
    drawn = Counter(one.told() for one in definitions if isinstance(one.held_out(), Settings))
    assert len(definitions) == 28 and drawn == {"programs": 3, "pairs": 3}
    assert all(one.m == 250 for one in definitions if one.setup == "few-shot")


@pytest.mark.parametrize("both", [{"property": "HAS-ATTR", "drawn": PROGRAMS["drawn"]}, {}])
def test_a_split_holds_out_one_thing(both):
    with pytest.raises(InputError, match="holds out one thing"):
        read_definition({"name": "x", "setup": "zero-shot"} | both)
