"""VERIFYLOGIC: whether there are both g and the g2 of a distractor, or either of them."""

from __future__ import annotations

import random
from collections.abc import Iterator

from compvqa.covr.questions.kinds.comparing import SECOND, places, second_references
from compvqa.covr.questions.seed import Draft, Dropped, Seed, choose
from compvqa.covr.questions.templates import Template, Variant, word

JOINTS = {"And": {"both": "both", "joint": "and"}, "Or": {"both": "either", "joint": "or"}}


def drafts(template: Template, variant: Variant, seed: Seed, rng: random.Random) -> Iterator[Draft | Dropped]:
    """And or Or, drawn, with both answers: images of both, one or none of the references, then of neither."""
    second = next(second_references(seed, rng), None)
    if second is None:
        yield Dropped("no second reference")
        return
    pool = seed.pool(template, variant, [seed.graph, second])
    rest = places(seed, pool, second)
    with_second = rest.pop(SECOND)
    others = seed.numbers(second)
    with_first = [scene_id for scene_id in pool.positives if others[scene_id] == 0]
    if not with_first or not with_second:
        yield Dropped("no image left with one of the references")
        return
    operator = rng.choice(sorted(JOINTS))
    references = [seed.graph, second]
    rng.shuffle(references)
    wording = word(
        variant, dict(zip(("ref", "ref2"), references, strict=True)), {"operator": operator} | JOINTS[operator]
    )
    first, other = with_first[0], rng.choice(with_second)
    one = rng.choice([[first], [other]])
    ways: dict[tuple[str, bool], list[list[str]]] = {
        ("And", True): [[first, other]],
        ("And", False): [one, []],
        ("Or", True): [one, [first, other]],
        ("Or", False): [[]],
    }
    for answer in (True, False):
        shown = rng.choice(ways[operator, answer])
        yield Draft(wording, choose(rng, shown, rest, len(shown), len(shown), template.prefer), answer)
