"""VERIFYSAMEATTR: whether two objects, each the only one of its kind, have the same attribute of a group."""

from __future__ import annotations

import random
from collections.abc import Iterator

from compvqa.covr.inflection import group_name
from compvqa.covr.questions.kinds.comparing import second_references
from compvqa.covr.questions.references import without_attribute
from compvqa.covr.questions.seed import Draft, Dropped, Seed, choose
from compvqa.covr.questions.templates import Template, Variant, word
from compvqa.covr.subgraphs.subgraph import Subgraph

TRIES = 10  # second references looked at for one that gives both answers


def drafts(template: Template, variant: Variant, seed: Seed, rng: random.Random) -> Iterator[Draft | Dropped]:
    """g and the g2 of a distractor, both without their root's attribute, in an image each; neither in the rest."""
    ref = without_attribute(seed.graph)
    best: tuple[Subgraph | None, dict[bool, list[str]]] = (None, {})
    for second in _seconds(template, seed, rng):
        found = _sets(template, variant, seed, (ref, second), rng)
        if len(found) > len(best[1]):
            best = (second, found)
        if len(found) == 2:
            break
    chosen, sets = best
    if chosen is None:
        yield Dropped("no second reference")
        return
    references = rng.sample([ref, chosen], 2)
    wording = word(
        variant,
        dict(zip(("ref", "ref2"), references, strict=True)),
        {"group": seed.group, "group_name": group_name(seed.group or "")},
    )
    for answer in (True, False):
        if answer in sets:
            yield Draft(wording, sets[answer], answer)
        else:
            yield Dropped("no image with the other answer")


def _seconds(template: Template, seed: Seed, rng: random.Random) -> Iterator[Subgraph]:
    """Second references without their attribute, each once, at most :data:`TRIES`."""
    seen = {without_attribute(seed.graph)}
    for found in second_references(seed, rng):
        second = without_attribute(found)
        if second not in seen and not template.excludes(second.name, seed.group):
            seen.add(second)
            yield second
        if len(seen) > TRIES:
            return


def _sets(
    template: Template, variant: Variant, seed: Seed, references: tuple[Subgraph, Subgraph], rng: random.Random
) -> dict[bool, list[str]]:
    """An image set for each answer that there is one for; the start scene is preferred for the first reference."""
    pool = seed.pool(template, variant, references)
    negatives = [negative.scene_id for found in pool.negatives.values() for negative in found]
    scenes = list(dict.fromkeys([*pool.positives, *negatives]))
    first, second = (_values(seed, references, which, scenes) for which in (0, 1))
    numbers = [seed.numbers(g) for g in references]
    rest = pool.scenes(lambda scene_id: not any(number[scene_id] for number in numbers))
    sets = {}
    for answer in (True, False):
        pairs = [(a, b) for a in first for b in second if (first[a] == second[b]) is answer]
        own = [pair for pair in pairs if pair[0] == seed.scene_id]
        if pairs:
            sets[answer] = choose(rng, rng.choice(own or pairs), rest, fewest=2, most=2, prefer=template.prefer)
    return sets


def _values(seed: Seed, references: tuple[Subgraph, Subgraph], which: int, scenes: list[str]) -> dict[str, str]:
    """The scenes that hold one object of one reference, with its attribute of the group, and none of the other."""
    g, other = references[which], references[1 - which]
    numbers, others = seed.numbers(g), seed.numbers(other)
    result = {}
    for scene_id in scenes:
        if numbers[scene_id] == 1 and others[scene_id] == 0:
            (value,) = seed.values(g, scene_id, seed.group or "")
            if value is not None:
                result[scene_id] = value
    return result
