"""Setups: each is whole in itself, and a new one is one file."""

import pytest

from compvqa import plugins, tables
from compvqa.covr.questions.tables import DATASET
from compvqa.errors import InputError
from compvqa.splits import setups
from compvqa.splits.setups import ANY, CHOOSE, FIT, TEST, check_use, find_setup
from compvqa.splits.splitters import SPLITS, SplitSettings, read_definition, split
from fixtures.split_rows import split_rows
from unit.splits.test_splits_splitters import question

# Asks the same texts of other images in dev and test, as CLEVR does, and is tested on two parts; nothing is chosen by.
OWN = """
from compvqa.splits.setups import FIT, IMAGE, TEST, Apart, Definition, Part, Setup, Variant

SETUP = Setup(
    definition=Definition,
    parts=(
        Part("learn", FIT, "train", "all of train"),
        Part("near", TEST, "dev", "all of dev"),
        Part("far", TEST, "test", "all of test"),
    ),
    variants={"own": Variant(("learn",), ())},
    predicted=("near", "far"),
    apart=(Apart(IMAGE, "train", "test"),),
)
"""


@pytest.mark.parametrize("name", plugins.names("compvqa.splits.setups"))
def test_what_a_setup_says_of_parts_and_sides_is_of_its_own(name):
    setup = find_setup(name)
    parts = [part.name for part in setup.parts]
    assert len(set(parts)) == len(parts)
    fitted = {part.name for part in setup.parts if part.role == FIT}
    for variant in setup.variants.values():
        assert set(variant.fit) | set(variant.left_out) <= fitted and bool(variant.fit) != bool(variant.left_out)
        assert not set(variant.choose) & fitted and set(variant.choose) <= set(parts)
    assert set(setup.predicted) <= set(parts) - fitted
    assert {part.role for part in setup.parts} == {FIT, CHOOSE, TEST}
    assert {side for apart in setup.apart for side in (apart.one, apart.other)} == set(setup.sides)
    assert all(part.as_many_as in parts[: parts.index(part.name)] for part in setup.parts if part.as_many_as)


def test_a_run_is_called_as_its_setup_says():
    few = find_setup("few-shot")
    assert few.own is few.variant("comp") and few.variant("m125") is few.variant("m0")
    for name in ("m", "comp3", "easy", ""):
        with pytest.raises(InputError, match="use one of comp, size, shown, m"):
            few.variant(name)


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The setup above as one file beside those of the package."""
    (tmp_path / "two_tests.py").write_text(OWN)
    monkeypatch.setattr(setups, "__path__", [*setups.__path__, str(tmp_path)])
    monkeypatch.delitem(__import__("sys").modules, "compvqa.splits.setups.two_tests", raising=False)
    return {"name": "mine", "setup": "two-tests"}


def rows(tmp_path, *changed: dict):
    """A dataset of a question of each part, all with one text, changed so."""
    made = [question(n, part, False) | {"text": "How many?"} for n, part in enumerate(("train", "dev", "test"))]
    tables.write(tmp_path / "dataset.parquet", DATASET, [row | c for row, c in zip(made, changed, strict=True)])
    return tmp_path / "dataset.parquet"


def test_a_setup_is_one_file_which_says_parts_and_guards(own, tmp_path):
    dataset = rows(tmp_path, {}, {"scene_ids": ["train:1"]}, {})
    with pytest.raises(InputError, match="split all leaks: train and dev share the image"):
        split(dataset, {"name": "all", "setup": "iid"}, None, tmp_path / "iid.parquet", SplitSettings(), 1)
    counts = split(dataset, own, None, tmp_path / "own.parquet", SplitSettings(), 1)
    wanted = split_rows("mine", "two-tests", {"far": ["00002"], "learn": ["00000"], "near": ["00001"]})
    assert tables.read(tmp_path / "own.parquet", SPLITS).to_pylist() == wanted
    assert counts["leak guard: images of train"] == 2 and "text" not in " ".join(counts)
    leaking = rows(tmp_path, {}, {}, {"scene_ids": ["train:2"]})
    with pytest.raises(InputError, match="split mine leaks: train and test share the image 'train:2'"):
        split(leaking, own, None, tmp_path / "own.parquet", SplitSettings(), 1)
    assert {row["role"] for row in wanted} == {FIT, TEST} and {row["held_out"] for row in wanted} == {ANY}


@pytest.mark.parametrize(
    ("definition", "curves", "named", "words"),
    [
        ({"setup": "zero-shot", "property": "V"}, ["s"], [], "models.curve.splits names s, whose setup zero-shot has"),
        ({"setup": "iid", "chain": "easy"}, [], ["comp"], "none of the variants of s, which are iid, text, easy"),
    ],
)
def test_runs_that_a_setup_has_not_are_refused(definition, curves, named, words):
    described = read_definition({"name": "s", **definition})
    with pytest.raises(InputError, match=words):
        check_use(described, curves, named)
    check_use(described, ["other"], ["iid", "comp"])


@pytest.mark.parametrize("chain", ["../up", "a b", "/root", "easy/"])
def test_a_chain_is_a_folder_of_the_test_bed(chain):
    with pytest.raises(InputError, match="split s, chain"):
        read_definition({"name": "s", "setup": "iid", "chain": chain})
