"""What a run will ask is counted before it."""

import pytest

from compvqa.asking.cost import RULES, cost
from compvqa.asking.prompts import Prompt
from compvqa.asking.questions import Questions
from compvqa.asking.settings import AskedModel
from fixtures.asked import Bed


@pytest.mark.parametrize("shots", [0, 2])
def test_requests_and_pictures_are_those_that_are_asked(tmp_path, shots):
    bed = Bed(tmp_path / "bed")
    model, folders = AskedModel(inspect="mockllm/model", shots=shots), {"toy": bed.folder / "images"}
    questions = Questions(bed.folder / "questions.parquet", None, bed.folder / "scenes.parquet", folders, model, 1)
    asked = list(questions.asked(["test"], ["train"]))
    told = cost(asked, questions.answers(), Prompt(text="{question}", tokens=5), "llava-1.5")
    sent = sum(len(each.pictures) for one in asked for each in (*one.shots, one.shown))
    assert (told["requests"], told["tokens of replies at most"]) == (20, 100)
    assert told["pictures"] == sent >= told["different pictures"] and told["tokens of pictures"] == 576 * sent
    letters = sum(len(each.question) for one in asked for each in (*one.shots, one.shown))
    assert told["tokens of texts"] == letters // 4


@pytest.mark.parametrize(("size", "tokens"), [((28, 28), 3), ((56, 84), 8), ((480, 320), 17 * 11 + 2), ((1, 1), 3)])
def test_a_picture_is_as_many_tokens_as_its_model_cuts_it_into(size, tokens):
    assert RULES["qwen2-vl"](*size) == tokens and RULES["llava-1.5"](*size) == 576
