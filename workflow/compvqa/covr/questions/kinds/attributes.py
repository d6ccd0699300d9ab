"""VERIFYATTR, CHOOSEATTR and QUERYATTR: the attribute of the one object that g without its attribute refers
to."""

from __future__ import annotations

import random
from collections.abc import Iterator

from compvqa.covr.inflection import group_name, said_attribute, unsayable
from compvqa.covr.questions.references import substitute, without_attribute
from compvqa.covr.questions.seed import Draft, Dropped, Pool, Seed, choose, fits
from compvqa.covr.questions.templates import Template, Variant, word
from compvqa.covr.subgraphs.subgraph import Subgraph
from compvqa.seeds import shuffle

CHANGED = "0_attr"  # distractors that differ in nothing but the root's attribute
NO_OWN, NO_OTHER = Dropped("no image with one such object"), Dropped("no image with the other answer")


def drafts(template: Template, variant: Variant, seed: Seed, rng: random.Random) -> Iterator[Draft | Dropped]:
    """One image with the object, its attribute as in g or (other answer) changed; none in the rest.

    With ``options.ask: verify`` or ``choose`` (the text tells the attribute, or two) both answers are made or
    none; with ``query`` those that there are.
    """
    ask, attribute, ref = template.options["ask"], seed.graph.attribute, without_attribute(seed.graph)
    pool, numbers = seed.pool(template, variant, [ref]), seed.numbers(ref)
    rest = pool.scenes(lambda scene_id: numbers[scene_id] == 0)
    if not any(rest.values()):
        yield Dropped("no distractor without such an object")
        return
    own = [scene_id for scene_id in pool.positives if numbers[scene_id] == 1]
    changed = _changed(seed, pool, ref)
    other = rng.choice(sorted(changed)) if ask == "choose" and changed else None
    if other is not None:
        own, changed = _with_one_of_two(seed, other, own, changed[other])
    others = [scene_id for found in changed.values() for scene_id in found]
    shuffle(rng, others)
    images = (own, others)
    if ask != "query" and not all(images):
        yield NO_OTHER if own else NO_OWN
        return
    wording = word(variant, {"ref": ref}, _slots(seed, other, rng))
    answers = {"verify": (True, False), "choose": (attribute, other), "query": (attribute, None)}[ask]
    for found, answer, dropped in zip(images, answers, (NO_OWN, NO_OTHER), strict=True):
        if found:
            yield Draft(wording, choose(rng, found, rest, fewest=1, most=1, prefer=template.prefer), answer)
        else:
            yield dropped


def _changed(seed: Seed, pool: Pool, ref: Subgraph) -> dict[str, list[str]]:
    """The distractors with one object that ``ref`` refers to, by the attribute that it has instead of g's."""
    numbers, own = seed.numbers(ref), seed.numbers(seed.graph)
    result: dict[str, list[str]] = {}
    for key, found in pool.negatives.items():
        for negative in found if fits(key, (CHANGED,)) else ():
            if unsayable("attribute", negative.names[0]):
                continue
            if numbers[negative.scene_id] == 1 and own[negative.scene_id] == 0:
                result.setdefault(negative.names[0], []).append(negative.scene_id)
    return result


def _with_one_of_two(
    seed: Seed, other: str, own: list[str], changed: list[str]
) -> tuple[list[str], dict[str, list[str]]]:
    """The scenes where just one of g's and the other attribute holds."""
    numbers = seed.numbers(substitute(seed.graph, {(0, True): other}))
    return [s for s in own if numbers[s] == 0], {other: [s for s in changed if numbers[s]]}


def _slots(seed: Seed, other: str | None, rng: random.Random) -> dict[str, str | None]:
    first, second = rng.sample([seed.graph.attribute, other], 2)
    attribute = {"attribute": seed.graph.attribute, "first": first, "second": second}
    said = {f"{name}_said": said_attribute(value) for name, value in attribute.items() if value is not None}
    return attribute | said | {"group": seed.group, "group_name": group_name(seed.group or "")}
