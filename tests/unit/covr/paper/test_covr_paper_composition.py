"""Splits of ours and the questions that stand for them."""

import pyarrow.parquet as pq
import pytest

from compvqa import tables
from compvqa.covr.paper.composition import composition, question_of
from compvqa.covr.properties import held, predicate
from compvqa.paper.splits import read_splits
from compvqa.splits.splitters import SPLITS
from fixtures.paper_inputs import NASTY
from fixtures.paper_tables import rows_of
from fixtures.split_rows import split_rows

BOTH = "HAS-QUANT and LEXICAL-star"


def split_by(world, folder, expression: str, name: str = "own", setup: str = "zero-shot"):
    """A split that holds out the questions of ``expression``, made from the dataset, as inputs."""
    holds = predicate(expression)
    parts = {"train": [], "test_comp": []}
    for row in pq.read_table(world.dataset).to_pylist():
        part = {(False, "train"): "train", (True, "test"): "test_comp"}.get((holds(question_of(row)), row["part"]))
        if part:
            parts[part].append(row["question_id"])
    tables.write(folder / f"{name}.parquet", SPLITS, split_rows(name, setup, parts))
    (folder / f"{name}.yaml").write_text(f"name: {name}\ntitle: {name.upper()}\nsetup: {setup}\n")
    return world.inputs | {"splits": [folder / f"{name}.parquet"], "definitions": [folder]}


def test_a_split_is_not_made_or_empty_or_has_no_test_or_train_questions(world, tmp_path):
    (tmp_path / "missing.yaml").write_text("setup: zero-shot\n")
    expressions = {"none": "HAS-GROUPBY", "alltest": "HAS-ATTR or not HAS-ATTR", "made": BOTH}
    inputs = {"splits": []}
    for name, expression in expressions.items():
        inputs["splits"] += split_by(world, tmp_path, expression, name)["splits"]
    empty = split_by(world, tmp_path, BOTH, "empty")["splits"][0]
    pq.write_table(pq.read_table(empty).slice(0, 0), empty)
    inputs |= {"splits": [*inputs["splits"], empty], "definitions": [tmp_path]}
    why = {split.name: split.empty for split in read_splits(inputs, "zero-shot")}
    assert why == {
        "missing": "it was not made",
        "empty": "no question of the data has its property",
        "none": "no test question has its property",
        "alltest": "no training question is left",
        "made": "",
    }
    assert read_splits(inputs, "few-shot") == []


@pytest.mark.parametrize("expression", [BOTH, "HAS-COUNT and LEXICAL-star or HAS-COUNT and LEXICAL-ball", "HAS-COUNT"])
def test_the_test_question_has_what_is_held_out_and_train_questions_have_not(world, tmp_path, expression):
    inputs = split_by(world, tmp_path, expression)
    (split,) = read_splits(inputs, "zero-shot")
    found = composition(inputs, split)
    holds = predicate(expression)
    assert holds(question_of(found.test)) and not any(holds(question_of(row)) for row in found.train)
    parts = dict(zip(*pq.read_table(world.dataset, columns=["question_id", "part"]).to_pydict().values(), strict=True))
    assert {parts[row["question_id"]] for row in found.train} == {"train"}
    assert parts[found.test["question_id"]] == "test"
    assert composition(inputs, split) == found


def test_train_questions_have_one_property_or_the_other(world, tmp_path):
    inputs = split_by(world, tmp_path, BOTH)
    (split,) = read_splits(inputs, "zero-shot")
    found = composition(inputs, split)
    quantified, stars = found.train
    assert "HAS-QUANT" in held(question_of(quantified)) and "star" not in question_of(quantified).names()
    assert "star" in question_of(stars).names() and "HAS-QUANT" not in held(question_of(stars))


def test_no_two_questions_of_train_have_more_of_the_test_questions_properties(world, tmp_path):
    """The first is as good as any; of the pairs with it the second is as good as any."""
    inputs = split_by(world, tmp_path, "HAS-COUNT and HAS-NUM")
    (split,) = read_splits(inputs, "zero-shot")
    found = composition(inputs, split)
    kept = set(pq.read_table(split.file, filters=[("part", "=", "train")])["question_id"].to_pylist())
    wanted = set(held(question_of(found.test)))
    others = [
        wanted & set(held(question_of(row)))
        for row in pq.read_table(world.dataset).to_pylist()
        if row["question_id"] in kept
    ]
    first, *second = [wanted & set(held(question_of(row))) for row in found.train]
    assert len(first) == max(map(len, others))
    assert len(first.union(*second)) == max(len(first | other) for other in others)


def test_names_with_quotation_marks_are_found(world, tmp_path):
    inputs = split_by(world, tmp_path, f'"LEXICAL-{NASTY}" and HAS-QUANT')
    (split,) = read_splits(inputs, "zero-shot")
    assert any(NASTY in question_of(row).names() for row in composition(inputs, split).train)


def test_a_split_without_test_questions_has_no_example(world, tmp_path):
    inputs = split_by(world, tmp_path, "HAS-GROUPBY")
    (split,) = read_splits(inputs, "zero-shot")
    assert composition(inputs, split) is None


def test_sizes_of_all_parts_are_told_and_answers_that_train_never_gives(world, tmp_path):
    """With all that count held out, train gives no number."""
    inputs = split_by(world, tmp_path, "HAS-COUNT", "count", "few-shot")
    rows = pq.read_table(world.dataset).to_pylist()
    whole = {part: [row["question_id"] for row in rows if row["part"] == part] for part in ("train", "dev", "test")}
    tables.write(tmp_path / "iid.parquet", SPLITS, split_rows("iid", "iid", whole))
    (tmp_path / "iid.yaml").write_text("name: iid\ntitle: i.i.d.\nsetup: iid\n")
    for draw in (1, 2):
        (tmp_path / f"drawn-{draw}.yaml").write_text(f"name: drawn-{draw}\ntitle: Drawn\nsetup: zero-shot\n")
    tables.write(
        tmp_path / "other.parquet",
        SPLITS,
        split_rows("other", "held-out-pair", {"train": whole["train"], "test_ood": whole["test"]}),
    )
    made = [tmp_path / f"{name}.parquet" for name in ("iid", "other")]
    inputs |= {"splits": [*inputs["splits"], *made], "definitions": [tmp_path]}
    (tmp_path / "other.yaml").write_text("name: other\ntitle: Of a setup of one's own\nsetup: held-out-pair\n")
    (tmp_path / "unused.yaml").write_text("name: unused\ntitle: Of it, but not made\nsetup: held-out-pair\n")
    (tmp_path / "easy.yaml").write_text("name: easy\ntitle: Of another chain\nsetup: iid\nchain: easy\n")
    made = rows_of("splits", inputs, tmp_path)
    assert list(made) == ["i.i.d.", "COUNT", "drawn-1", "drawn-2", "Of a setup of one's own"]
    assert made["drawn-1"]["note"] == "not made" and not made["drawn-1"]["Train"]
    held = predicate("HAS-COUNT")
    known = {row["answer"].lower() for row in rows if row["part"] == "train" and not held(question_of(row))}
    tested = [row for row in rows if row["part"] == "test" and held(question_of(row))]
    unknown = [row for row in tested if row["answer"].lower() not in known]
    assert unknown
    assert made["COUNT"]["Test with it"] == str(len(tested))
    assert made["COUNT"]["Of these: answer not in train"] == str(len(unknown))
    for column, part in (("Train", "train"), ("Dev without it", "dev"), ("Test with it", "test")):
        assert made["i.i.d."][column] == str(sum(row["part"] == part for row in rows))
