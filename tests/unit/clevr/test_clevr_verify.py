"""Programs of question files are run on scenes: what agrees, what differs, and what can't be run."""

import json
from collections import Counter

import pytest

from compvqa.clevr.verify import counted, scenes_of, verify
from fixtures.clevr_scenes import record


def question(function, answer, *, color="red", scene=0, inputs=(1,)):
    names = ("scene", "filter_color", function)
    rows = zip(names, ([], [0], list(inputs)), ([], [color], []), strict=True)
    return {
        "question": "What?",
        "image_filename": f"CLEVR_train_{scene:06d}.png",
        "answer": answer,
        "program": [{"function": name, "inputs": given, "value_inputs": words} for name, given, words in rows],
    }


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    path = tmp_path_factory.mktemp("scenes") / "scenes.json"
    path.write_text(json.dumps({"info": {}, "scenes": [record(0)]}))
    return scenes_of(path)


def test_each_outcome_is_told(scenes, tmp_path):
    many = sum(item["color"] == "gray" for item in record(0)["objects"])
    questions = [
        question("count", str(many), color="gray"),
        question("count", many, color="gray"),
        question("count", many + 1, color="gray"),
        question("exist", None, color="gray"),
        question("count", 0, scene=9),
        question("count", 0, inputs=[2]),
        {"question": "What?", "image_filename": "CLEVR_train_000000.png"},
        question("unique", None, color="purple")
        | {
            "program": [*question("unique", None, color="purple")["program"], {"function": "query_size", "inputs": [2]}]
        },
    ]
    path = tmp_path / "questions.json"
    path.write_text(json.dumps({"questions": questions}))
    counts, shown = counted(verify(path, scenes))
    assert counts == {
        "agree": 2,
        "differ": 1,
        "without an answer in the file": 1,
        "without a scene": 1,
        "malformed": 1,
        "without a program": 1,
        "ill-posed": 1,
    }
    assert [item.number for item in shown] == [2, 5, 7]
    assert (shown[0].told, shown[0].found) == (str(many + 1), str(many))
    assert shown[1].why == "program is ill-typed: row 3: count depends on row 2, which is not above it"


def test_malformed_scenes_of_a_file_are_told(tmp_path):
    path, told = tmp_path / "scenes.json", []
    path.write_text(json.dumps({"info": {}, "scenes": [record(0), record(0), record(1) | {"objects": 3}]}))
    assert [*scenes_of(path, tell=told.append)] == ["CLEVR_train_000000"]
    assert len(told) == 2 and told[0].startswith("CLEVR_train_000000 (scene): scene id repeated")
    assert told[1].startswith("CLEVR_train_000001 (")


def test_a_folder_of_tables_gives_the_same_scenes(folder):
    assert sorted(scenes_of(folder)) == [f"CLEVR_train_{number:06d}" for number in range(13)]


def test_the_originals_answers_are_found_again(clevr):
    scenes = scenes_of(clevr / "dataset_gen/CLEVR_scenes.json")
    counts, shown = counted(verify(clevr / "dataset_gen/CLEVR_questions.json", scenes))
    assert (counts, shown) == (Counter(agree=1000), [])
