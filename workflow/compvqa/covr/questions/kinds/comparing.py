"""COMPARECOUNT: whether there are more, less or as many of g as of the g2 of a distractor."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from compvqa.covr.inflection import is_mass
from compvqa.covr.questions.references import repeats_noun, unclear
from compvqa.covr.questions.seed import MOST_IMAGES, Draft, Dropped, Numbers, Pool, Seed, choose
from compvqa.covr.questions.templates import Template, Variant, word
from compvqa.covr.subgraphs.subgraph import Subgraph
from compvqa.seeds import shuffle

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
    second = next(second_references(seed, rng), None)
    if second is None:
        yield Dropped("no second reference")
        return
    pool = seed.pool(template, variant, [seed.graph, second])
    hands = places(seed, pool, second)
    if not pool.positives or not hands[SECOND]:
        yield Dropped("no image left with one of the references")
        return
    references = {"ref": seed.graph, "ref2": second}
    wording = word(variant, references, {"compare": compare} | COMPARISONS[compare])
    with_second = hands.pop(SECOND)
    numbers = [seed.numbers(g) for g in references.values()]
    found: set[bool] = set()
    for _ in range(1 if _decided(variant, compare, numbers, pool.positives, with_second) else TRIES):
        several = rng.sample(with_second, rng.randint(1, min(len(with_second), MOST_IMAGES - 1)))
        first_dealt = {f"{SECOND} {index}": [scene_id] for index, scene_id in enumerate(several)}
        scenes = choose(rng, pool.positives, hands | first_dealt, prefer=(f"{SECOND} *",))
        first, other = (_number(variant, number, scenes) for number in numbers)
        answer = HOLDS[compare](first, other)
        if first and other and answer not in found:
            found.add(answer)
            yield Draft(wording, scenes, answer)
        if len(found) == 2:
            return
    yield Dropped("no image set with the other answer")


def second_references(seed: Seed, rng: random.Random) -> Iterator[Subgraph]:
    """The subgraphs of distractors, each once, in a drawn order: g with the names found there in place.

    Left out is what has no plural, is unclear, names a thing twice or equals g.
    """
    choices = [(key, negative) for key, found in seed.negatives.items() for negative in found]
    shuffle(rng, choices)
    seen = {seed.graph}
    for key, negative in choices:
        second = seed.found_in(key, negative)
        clear = not is_mass(second.name) and not unclear(second) and not repeats_noun(second)
        if clear and second not in seen and seed.numbers(second)[negative.scene_id]:
            seen.add(second)
            yield second


def places(seed: Seed, pool: Pool, second: Subgraph) -> dict[str, list[str]]:
    """The negative scenes without g by key, those with g2 under the key :data:`SECOND`."""

    numbers, others = seed.numbers(seed.graph), seed.numbers(second)
    absent = pool.scenes(lambda scene_id: not numbers[scene_id])
    with_second = [scene_id for found in absent.values() for scene_id in found if others[scene_id]]
    without = {key: [s for s in found if not others[s]] for key, found in absent.items()}
    return without | {SECOND: list(dict.fromkeys(with_second))}


def _decided(
    variant: Variant, compare: str, numbers: Sequence[Numbers], positives: Sequence[str], with_second: Sequence[str]
) -> bool:
    """Whether all image sets that may be drawn give one answer, so that another need not be looked for.

    Each holds the first positive and a scene with g2, and g2 may be in positives too.
    """
    ours, beside = ([_number(variant, of, [scene_id]) for scene_id in positives] for of in numbers)
    theirs = [_number(variant, numbers[1], [scene_id]) for scene_id in with_second]
    fewest, most = ours[0], ours[0] + _most(ours[1:])
    others_fewest, others_most = beside[0] + min(theirs), _most(beside) + _most(theirs)
    if compare == "eq":
        return most < others_fewest or others_most < fewest or fewest == most == others_fewest == others_most
    if compare == "gt":
        return most <= others_fewest or fewest > others_most
    return fewest >= others_most or most < others_fewest


def _most(counts: Sequence[int]) -> int:
    """What the largest of the counts come to, beside one more image."""
    return sum(sorted(counts, reverse=True)[: MOST_IMAGES - 1])


def _number(variant: Variant, numbers: Numbers, scenes: Sequence[str]) -> int:
    counts = [numbers[scene_id] for scene_id in scenes]
    return sum(count > 0 for count in counts) if variant.options.get("images") else sum(counts)
