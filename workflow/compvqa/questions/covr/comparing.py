"""COMPARECOUNT: whether there are more, less or as many of g as of the g2 of a distractor."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from compvqa.graphs.subgraph import Subgraph
from compvqa.programs.words import MASS
from compvqa.questions.covr.references import alike_branches, substitute
from compvqa.questions.covr.seed import MOST_IMAGES, Draft, Dropped, Negative, Pool, Seed, choose
from compvqa.questions.covr.templates import Template, Variant, word

TRIES = 10  # draws of image sets until both answers were found
COMPARISONS = {
    "gt": {"more": "more", "than": "than"},
    "lt": {"more": "less", "than": "than"},
    "eq": {"more": "the same number of", "than": "as"},
}
HOLDS = {"gt": int.__gt__, "lt": int.__lt__, "eq": int.__eq__}
SECOND = "g2"  # key of the scenes with g2


def drafts(template: Template, variant: Variant, seed: Seed, rng: random.Random) -> Iterator[Draft | Dropped]:
    """One comparison, drawn, on image sets with both answers; each set holds g and g2 at least once."""
    compare = rng.choice(sorted(COMPARISONS))
    second = _second(seed, rng)
    if second is None:
        yield Dropped("no second reference")
        return
    pool = seed.pool(template, variant, [seed.graph, second])
    places = _places(seed, pool, second)
    if not pool.positives or not places[SECOND]:
        yield Dropped("no image left with one of the references")
        return
    references = {"ref": seed.graph, "ref2": second}
    wording = word(variant, references, {"compare": compare} | COMPARISONS[compare])
    with_second = places.pop(SECOND)
    found: set[bool] = set()
    for _ in range(TRIES):
        several = rng.sample(with_second, rng.randint(1, min(len(with_second), MOST_IMAGES - 1)))
        hands = places | {f"{SECOND} {index}": [scene_id] for index, scene_id in enumerate(several)}
        scenes = choose(rng, pool.positives, hands, prefer=(f"{SECOND} *",))
        first, other = (_number(variant, seed, g, scenes) for g in references.values())
        answer = HOLDS[compare](first, other)
        if first and other and answer not in found:
            found.add(answer)
            yield Draft(wording, scenes, answer)
        if len(found) == 2:
            return
    yield Dropped("no image set with the other answer")


def _second(seed: Seed, rng: random.Random) -> Subgraph | None:
    """The subgraph of a distractor, drawn: g with the differing nodes replaced."""
    choices = [(key, negative) for key, found in seed.negatives.items() for negative in found]
    rng.shuffle(choices)
    for key, negative in choices:
        second = replaced(seed.graph, key, negative)
        sayable = second.name not in MASS and not alike_branches(second)
        if sayable and seed.count(second, negative.scene_id):
            return second
    return None


def replaced(g: Subgraph, key: str, negative: Negative) -> Subgraph:
    """``g`` as it is found in a distractor; with ``attr`` in the key the first node's attribute."""
    attribute = "attr" in key
    for node, name in zip(negative.nodes, negative.names, strict=True):
        g = substitute(g, node, name, attribute)
        attribute = False
    return g


def _places(seed: Seed, pool: Pool, second: Subgraph) -> dict[str, list[str]]:
    """The negative scenes by key, those with g2 under a key of their own."""

    def holds(g: Subgraph, scene_id: str) -> bool:
        return seed.count(g, scene_id) > 0

    absent = pool.scenes(lambda scene_id: not holds(seed.graph, scene_id))
    with_second = [scene_id for found in absent.values() for scene_id in found if holds(second, scene_id)]
    without = {key: [s for s in found if not holds(second, s)] for key, found in absent.items()}
    return without | {SECOND: list(dict.fromkeys(with_second))}


def _number(variant: Variant, seed: Seed, g: Subgraph, scenes: Sequence[str]) -> int:
    counts = [seed.count(g, scene_id) for scene_id in scenes]
    return sum(count > 0 for count in counts) if variant.options.get("images") else sum(counts)
