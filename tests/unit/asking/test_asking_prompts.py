"""The wordings of config/prompts are read, and ask what they are given."""

import pytest
import yaml
from pydantic import ValidationError

from compvqa.asking.prompts import Prompt


@pytest.fixture(scope="module")
def prompts(root):
    paths = (root / "config/prompts").glob("*.yaml")
    return {path.stem: Prompt.model_validate(yaml.safe_load(path.read_text())) for path in paths}


def test_each_asks_the_question_and_one_names_the_answers_one_thinks_first(prompts):
    assert len(prompts) >= 3
    asked = {name: prompt.asked("Is {it} red?", ["no", "yes"], 2) for name, prompt in prompts.items()}
    assert all("Is {it} red?" in text for text in asked.values())
    assert [name for name, text in asked.items() if "no, yes" in text] == ["listed"]
    (thinking,) = (prompt for prompt in prompts.values() if prompt.cue)
    assert thinking.cue in thinking.text and thinking.tokens > 100


def test_pictures_have_their_numbers(prompts):
    assert prompts["labelled"].labelled(3) == "Picture 3:" and prompts["short"].labelled(3) == ""


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"text": "{question} {answer}"}, "{answer} is none of answers, images, question"),
        ({"text": "What?"}, "does not name {question}"),
        ({"text": "{question} {"}, "Single '{' encountered"),
        ({"text": "{question:d}"}, "{question} has more in its braces than the name"),
        ({"text": "{question!r}"}, "{question} has more in its braces than the name"),
        ({"text": "{question}", "label": "{number:s}"}, "{number} has more in its braces than the name"),
        ({"text": "{question}", "label": "{index}"}, "{index} is not {number}"),
    ],
)
def test_a_wording_that_names_what_there_is_not_is_refused(said, words):
    with pytest.raises(ValidationError) as told:
        Prompt.model_validate(said)
    assert words in str(told.value)
