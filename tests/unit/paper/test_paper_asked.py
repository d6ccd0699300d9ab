"""The pages of vision-language models: beside trained ones, by property and shots, and what asking cost."""

import pytest

from compvqa import tables
from compvqa.asking.parsing import Parser
from compvqa.asking.questions import Asked, Shown
from compvqa.asking.replies import read_replies, write_replies
from compvqa.paper.explorer import index
from fixtures.paper_tables import PAPERS, rows_of
from fixtures.scored import ANSWERS, Scored

MODELS = {"vlm": "inspect: mockllm/model", "vlm-2-shots": "inspect: mockllm/model\nshots: 2"}
MODELS |= {"visualbert-tiny": "model: visualbert"}
SPLITS = {"iid": "setup: iid", "some": "title: TPL-VERIFYATTR\nsetup: zero-shot"}
ALL_WRONG = dict.fromkeys(ANSWERS, "?")


@pytest.fixture
def world(tmp_path) -> Scored:
    """Two splits, of one of which the paper has numbers, and a trained model."""
    made = Scored(tmp_path)
    for folder, files in (("models", MODELS), ("definitions", SPLITS)):
        (tmp_path / folder).mkdir()
        for name, text in files.items():
            (tmp_path / folder / f"{name}.yaml").write_text(f"name: {name}\n{text}\n" if folder != "models" else text)
    trained = {"iid.text": {"q4": "true"}, "iid.iid": ANSWERS, "some.comp": {"q4": "true"}, "some.size": ANSWERS}
    for run, right in trained.items():
        made.predict(f"visualbert-tiny.{run}.1", ALL_WRONG | right)
    return made


def asked(world) -> Scored:
    """A model that is asked without shots is right of q2 alone, with two shots that have the property of q4 as well."""
    for model in ("vlm", "vlm-2-shots"):
        world.predict(f"{model}.iid.text.1", ALL_WRONG)
        world.predict(f"{model}.iid.iid.1", ALL_WRONG | {"q2": "2"})
    world.predict("vlm-2-shots.some.comp.1", ALL_WRONG | {"q2": "2"})
    world.predict("vlm-2-shots.some.shown.1", ANSWERS)
    return world


def inputs(world, **settings) -> dict:
    world.score(**settings)
    found = {"scores": [world.out], "contrasts": [world.contrasts], "splits": world.splits}
    return found | {name: [world.root / name] for name in ("models", "definitions")}


def test_models_that_are_asked_stand_beside_those_that_are_trained(world, tmp_path):
    rows = rows_of("splits", inputs(asked(world), contrasts=["in_context_generalization"]), tmp_path, "asked")
    named = ("TPL-VERIFYATTR: vlm", "TPL-VERIFYATTR: vlm-2-shots", "TPL-VERIFYATTR: visualbert-tiny")
    assert [name for name in rows if name.startswith("TPL")] == list(named)
    columns = ("From", "Blind", "All", "Without it", "With it", "Score")
    assert [rows[named[0]][column] for column in columns] == ["no shots", "0", "50", "", "", ""]
    assert [rows[named[1]][column] for column in columns] == ["2 shots", "0", "50", "50", "100", "0.5"]
    assert [rows[named[2]][column] for column in columns] == ["trained", "50", "100", "50", "100", "0"]
    assert rows[named[1]]["Score low"] == "0" and rows[named[1]]["Score n"] == "2"
    assert float(rows["iid: vlm"]["All"]) == pytest.approx(100 / 3, abs=1e-3)
    assert rows["iid: visualbert-tiny"]["All"] == "100"


def test_the_papers_numbers_stand_beside_the_model_that_it_trained(world, tmp_path):
    rows = rows_of("asked-zero-shot", inputs(asked(world)), tmp_path)
    trained, other = rows["TPL-VERIFYATTR: visualbert-tiny"], rows["TPL-VERIFYATTR: vlm"]
    found = [trained[f"{column} (paper)"] for column in ("Blind", "All", "Without it", "With it", "Score")]
    assert found == ["49.6", "73.5", "0.0", "75.4", "0.00"]
    assert not any(value for column, value in other.items() if column.endswith("(paper)"))


@pytest.mark.parametrize("name", ["splits", "properties", "cost"])
def test_a_page_says_that_nothing_was_asked(world, tmp_path, name):
    rows = rows_of(name, inputs(world), tmp_path, "asked")
    assert {*rows} <= {"iid: visualbert-tiny", "TPL-VERIFYATTR: visualbert-tiny"} and bool(rows) == (name == "splits")
    assert "No vision-language model was asked: name one in models.asked." in (tmp_path / f"{name}.html").read_text()


def test_accuracy_is_told_by_property_and_shots(world, tmp_path):
    rows = rows_of("properties", inputs(asked(world)), tmp_path, "asked")
    shown = {name: {key: value for key, value in row.items() if "low" not in key} for name, row in rows.items()}
    count = shown["HAS-COUNT"]
    assert (count["Questions"], count["vlm, blind"], count["vlm, no shots"], count["vlm-2-shots, 2 shots"]) == (
        "1", "0", "100", "100",
    )  # fmt: skip
    assert shown["HAS-ATTR"]["vlm-2-shots, 2 shots"] == "0" and not any("visualbert" in column for column in count)


def test_a_run_tells_its_requests_tokens_and_replies_without_an_answer(world, tmp_path):
    shots = (Shown("q5", "", "blue", (), ()),) * 2
    said = {"q0": "Yes.", "q1": "I cannot tell.", "q2": "2"}
    replied = [(Asked("generated", Shown(q, "Is it?", "", (), ()), shots), text, 40, 2) for q, text in said.items()]
    rows = read_replies(replied, "vlm-2-shots.some.comp.1", Parser(sorted({*ANSWERS.values()}), {}), "")
    replies = tmp_path / "vlm-2-shots.some.comp.1.replies.parquet"
    write_replies(rows, tmp_path / "predictions.parquet", replies)
    row = rows_of("cost", {"replies": [replies]}, tmp_path, "asked")["vlm-2-shots on some, comp"]
    columns = ("Requests", "Shots each", "Tokens in", "Tokens out", "Tokens a request", "No answer")
    assert [row[column] for column in columns] == ["3", "2", "120", "6", "42", "1"]
    assert tables.read(replies)["shots"].to_pylist() == [["q5", "q5"]] * 3


def test_the_page_links_to_the_viewer_of_replies(tmp_path):
    out = tmp_path / "paper/asked/index.html"
    viewer = [("What models replied", tmp_path / "asked/viewer/index.html")]
    index.make([PAPERS / "asked/cost.yaml"], tmp_path, out, "asked", others=viewer)
    assert '<a class="page-link" href="../../asked/viewer/index.html">What models replied →</a>' in out.read_text()
