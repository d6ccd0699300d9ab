"""The words of CLEVR's questions: attributes and relations by their groups, synonyms, and the texts made of them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compvqa.clevr.language import GROUPS, RELATION
from compvqa.clevr.templates import Template
from compvqa.errors import InputError
from compvqa.files import read_text

THING = "thing"  # what an object of any shape is called
OPTIONAL = re.compile(r"\[([^\[\]]*)\]")


@dataclass(frozen=True)
class Words:
    """By group (size, color, material, shape, relation) its values, and for a value the words that may stand for it."""

    values: Mapping[str, tuple[str, ...]]
    synonyms: Mapping[str, tuple[str, ...]]


def read_words(file: Path) -> Words:
    """The words of a JSON file ``{"values": {"size": [...], …}, "synonyms": {"cube": [...], …}}``."""
    try:
        data = json.loads(read_text(file))
        values = {group: _words(data["values"][group]) for group in (*GROUPS, RELATION)}
        synonyms = {word: _words(others) for word, others in data["synonyms"].items()}
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError, ValueError) as fault:
        why = f"lacks {fault}" if isinstance(fault, KeyError) else f"is malformed ({fault})"
        raise InputError(f"{file} {why}: give values of {', '.join((*GROUPS, RELATION))}, and synonyms.") from None
    return Words(values, synonyms)


def cut(words: Words, values: Mapping[str, Sequence[str]]) -> Words:
    """The words of which the groups that ``values`` names have these attributes alone, in the words' order."""
    for group, kept in values.items():
        if group not in GROUPS or not kept or not set(kept) <= set(words.values[group]):
            raise InputError(
                f"the values {', '.join(kept)} of {group} are not all among the words for questions: give some of "
                f"{', '.join(words.values.get(group, GROUPS))}."
            )
    cut = {group: tuple(word for word in words.values[group] if word in kept) for group, kept in values.items()}
    return Words({**words.values, **cut}, words.synonyms)


def _words(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not values or not all(isinstance(word, str) and word for word in values):
        raise ValueError(f"{json.dumps(values)[:60]} is no list of words")
    return tuple(values)


def text(template: Template, filled: Mapping[str, str | None], words: Words, rng: random.Random) -> str:
    """A question in words: one of the template's texts, one synonym for each slot, and each ``[…]`` kept or left out.

    "other" is left out where a question has two full descriptions that differ in an attribute: the two things are other
    already.
    """
    result = rng.choice(template.texts)
    for slot, plain in filled_slots(template, filled).items():
        if plain in words.synonyms:
            plain = rng.choice(words.synonyms[plain])
        result = result.replace(slot, plain)
    result = OPTIONAL.sub(lambda match: match[1] if rng.random() > 0.5 else "", result)
    result = " ".join(result.split())
    if _told_apart(template, filled):
        result = without_other(result)
    return result


def filled_slots(template: Template, filled: Mapping[str, str | None]) -> dict[str, str]:
    """What stands in a text for each slot, before synonyms: an empty one for a shape is a thing."""
    return {slot: value or (THING if template.slots[slot] == "shape" else "") for slot, value in filled.items()}


def without_other(text: str) -> str:
    """A text where "other" is left out."""
    return text.replace(" other ", " ").replace(" another ", " a ")


def _told_apart(template: Template, filled: Mapping[str, str | None]) -> bool:
    """Whether the slots are two full descriptions, of which some attribute is given in both and differs."""
    kinds = [template.slots[slot] for slot in filled]
    if kinds != [*GROUPS, *GROUPS]:
        return False
    whole = [value or (THING if kind == "shape" else None) for value, kind in zip(filled.values(), kinds, strict=True)]
    pairs = zip(whole[: len(GROUPS)], whole[len(GROUPS) :], strict=True)
    return any(one and other and one != other for one, other in pairs)
