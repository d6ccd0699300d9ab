"""Chats to fine-tune on hold the questions of a part, their pictures in order, and their answers."""

import json

import pytest
import yaml

from compvqa.asking.chats import write_chats
from compvqa.asking.prompts import Prompt
from compvqa.asking.questions import Questions
from compvqa.asking.settings import AskedModel
from fixtures.asked import Bed


@pytest.fixture(scope="module")
def bed(tmp_path_factory):
    return Bed(tmp_path_factory.mktemp("chats") / "bed")


def written(root, bed, form, prompt):
    model, folders = AskedModel(inspect="mockllm/model"), {"toy": bed.folder / "images"}
    questions = Questions(bed.folder / "questions.parquet", None, bed.folder / "scenes.parquet", folders, model, 1)
    wording = Prompt.model_validate(yaml.safe_load((root / f"config/prompts/{prompt}.yaml").read_text()))
    asked = list(questions.asked(["train"]))
    counts = write_chats(asked, questions.answers(), wording, form, bed.folder / "chats.jsonl")
    rows = [json.loads(line) for line in (bed.folder / "chats.jsonl").read_text().splitlines()]
    assert counts["out"] == len(rows) == bed.questions // 3
    return asked, rows


@pytest.mark.parametrize("prompt", ["short", "labelled", "thinking"])
def test_llava_has_a_mark_for_each_picture_before_the_question(root, bed, prompt):
    for one, row in zip(*written(root, bed, "llava", prompt), strict=True):
        human, gpt = row["conversations"][-2:]
        assert (human["from"], gpt["from"]) == ("human", "gpt")
        assert human["value"].count("<image>") == len(row["image"]) == len(one.shown.pictures)
        assert human["value"].rindex("<image>") < human["value"].index(one.shown.question)
        assert row["image"] == [str(path) for path in one.shown.pictures] and gpt["value"].endswith(one.shown.answer)


@pytest.mark.parametrize("prompt", ["short", "labelled", "thinking"])
def test_trl_has_a_part_for_each_picture_before_the_question(root, bed, prompt):
    for one, row in zip(*written(root, bed, "trl", prompt), strict=True):
        user, assistant = row["messages"][-2:]
        kinds = [part["type"] for part in user["content"]]
        assert kinds.count("image") == len(row["images"]) == len(one.shown.pictures) and kinds[-1] == "text"
        assert one.shown.question in user["content"][-1]["text"]
        assert assistant["content"][0]["text"].endswith(one.shown.answer)


def test_labels_stand_before_their_pictures(root, bed):
    _, rows = written(root, bed, "trl", "labelled")
    content = rows[0]["messages"][-1 - 1]["content"]
    assert content[:2] == [{"type": "text", "text": "Picture 1:"}, {"type": "image"}]
    _, rows = written(root, bed, "llava", "labelled")
    assert "\nPicture 1: <image>\n" in rows[0]["conversations"][0]["value"]
    assert [turn["from"] for turn in rows[0]["conversations"]] == ["human", "gpt"]
