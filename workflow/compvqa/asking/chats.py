"""Questions and their answers as chats that others fine-tune on: a part of a split, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from compvqa import tables
from compvqa.asking.prompts import Prompt
from compvqa.asking.questions import Asked, Shown


def write_chats(asked: Sequence[Asked], answers: Sequence[str], prompt: Prompt, form: str, out: Path) -> dict[str, int]:
    """Write a chat of each question, a line of JSON each, in a form of :data:`FORMS`.

    Pictures are named by their files; what is said is what a model is asked by ``prompt``.
    """
    chats = (FORMS[form](one, answers, prompt) for one in asked)
    lines = [json.dumps(chat, ensure_ascii=False) for chat in chats]
    with tables.replacing(out) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return {"out": len(lines), "pictures": len({path for one in asked for path in one.shown.pictures})}


def llava(one: Asked, answers: Sequence[str], prompt: Prompt) -> dict[str, Any]:
    """A chat as LLaVA's training code reads it: `<image>` stands for each picture, in their order. It knows of two
    speakers, so that what the prompt says as the system begins the first turn."""
    said = "".join(f"{label}<image>\n" for label in _labels(one.shown, prompt))
    human = f"{said}{prompt.asked(one.shown.question, answers, len(one.shown.pictures))}"
    asked = f"{prompt.system}\n{human}" if prompt.system else human
    turns = [("human", asked), ("gpt", f"{prompt.cue} {one.shown.answer}".strip())]
    chat = [{"from": who, "value": text} for who, text in turns]
    return {"id": one.question_id, "image": [str(path) for path in one.shown.pictures], "conversations": chat}


def trl(one: Asked, answers: Sequence[str], prompt: Prompt) -> dict[str, Any]:
    """A chat as TRL's trainers read it: messages in parts, pictures in a column of their own."""
    parts: list[dict[str, str]] = []
    for label in _labels(one.shown, prompt):
        parts += [*_texts(label.strip()), {"type": "image"}]
    parts += _texts(prompt.asked(one.shown.question, answers, len(one.shown.pictures)))
    said = [("user", parts), ("assistant", _texts(f"{prompt.cue} {one.shown.answer}".strip()))]
    told = [("system", _texts(prompt.system))] if prompt.system else []
    chat = [{"role": who, "content": content} for who, content in [*told, *said]]
    return {"id": one.question_id, "images": [str(path) for path in one.shown.pictures], "messages": chat}


def _labels(shown: Shown, prompt: Prompt) -> list[str]:
    """What stands before each picture, with a space where it is something."""
    labels = [prompt.labelled(number) for number in range(1, len(shown.pictures) + 1)]
    return [label and f"{label} " for label in labels]


def _texts(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}] if text else []


FORMS: dict[str, Callable[[Asked, Sequence[str], Prompt], dict[str, Any]]] = {"llava": llava, "trl": trl}
