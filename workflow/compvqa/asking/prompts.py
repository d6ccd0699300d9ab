"""Wordings of a question, a file each (``config/prompts``): what stands beside the pictures."""

from __future__ import annotations

import string
from collections.abc import Sequence

from pydantic import Field, field_validator

from compvqa.settings import Settings

FIELDS = {"question", "answers", "images"}  # what a wording may name in braces


class Prompt(Settings):
    """A file of ``config/prompts``."""

    system: str = Field("", description="what the model is told before all else")
    label: str = Field("", description="text before each picture, with {number}, from 1; empty: none")
    text: str = Field(description="text after the pictures, with {question}, and {answers} or {images} (how many)")
    cue: str = Field("", description="what the reply's answer stands behind, such as `Answer:`; empty: anywhere")
    tokens: int = Field(16, ge=1, description="most tokens of a reply")

    @field_validator("text")
    @classmethod
    def _asks(cls, text: str) -> str:
        named = _fields(text)
        if strange := sorted(named - FIELDS):
            raise ValueError(f"{{{strange[0]}}} is none of {', '.join(sorted(FIELDS))}")
        if "question" not in named:
            raise ValueError("it does not name {question}")
        return text

    @field_validator("label")
    @classmethod
    def _counts(cls, label: str) -> str:
        if strange := sorted(_fields(label) - {"number"}):
            raise ValueError(f"{{{strange[0]}}} is not {{number}}")
        return label

    def asked(self, question: str, answers: Sequence[str], images: int) -> str:
        """The text that asks ``question``; ``answers`` are those that there are, ``images`` how many are shown."""
        return self.text.format(question=question, answers=", ".join(answers), images=images).strip()

    def labelled(self, number: int) -> str:
        """The text before picture ``number``, counted from 1; empty where there is none."""
        return self.label.format(number=number)


def _fields(text: str) -> set[str]:
    """The names in braces; ValueError where braces do not match, or hold more than a name."""
    found = [(name, how, kind) for _, name, how, kind in string.Formatter().parse(text) if name is not None]
    if more := next((name for name, how, kind in found if how or kind), None):
        raise ValueError(f"{{{more}}} has more in its braces than the name")
    return {name for name, _, _ in found}
