"""COUNT and VERIFYCOUNT: how many objects, or images with such objects, there are."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from compvqa.covr.questions.seed import Draft, Dropped, Seed, choose
from compvqa.covr.questions.templates import Template, Variant, word

LARGEST = 5  # the largest number in a question or answer
TRIES = 5  # draws of a second set of images whose number differs
PHRASES = {"eq": "{}", "geq": "at least {}", "leq": "at most {}"}

Sets = list[tuple[list[str], int]]  # of scenes, each with its number


def drafts(template: Template, variant: Variant, seed: Seed, rng: random.Random) -> Iterator[Draft | Dropped]:
    """Two image sets with different numbers for one text; with ``options.verify`` it states a number."""
    g, numbers = seed.graph, seed.numbers(seed.graph)
    pool = seed.pool(template, variant, [g])
    negatives = pool.scenes(lambda scene_id: numbers[scene_id] == 0)
    if len({scene_id for found in negatives.values() for scene_id in found}) < 2:
        yield Dropped("too few negatives")
        return

    def draw(fewest: int) -> list[str]:
        return choose(rng, pool.positives, negatives, fewest, prefer=template.prefer)

    def number(scenes: list[str]) -> int:
        counts = [numbers[scene_id] for scene_id in scenes]
        return sum(count > 0 for count in counts) if variant.options.get("images") else sum(counts)

    sets = two_sets(draw, number)
    if sets is None:
        yield Dropped("no two sets with different numbers")
        return
    if not template.options.get("verify"):
        wording = word(variant, {"ref": g}, {})
        counts = variant.program[-1][0] == "Count"
        for scenes, found in sets:
            yield Draft(wording, scenes, found if counts else None)
        return
    compare, stated = bound(rng, *(found for _, found in sets))
    wording = word(variant, {"ref": g}, {"compare": compare, "number": stated} | phrases(compare, stated))
    for scenes, found in sets:
        yield Draft(wording, scenes, states(compare, stated, found))


def two_sets(draw: Callable[[int], list[str]], number: Callable[[list[str]], int]) -> Sets | None:
    """Two sets of scenes with their numbers: the first above 0, both at most :data:`LARGEST`.

    ``draw`` is told how many positives a set holds at least: one in the first, none in the second.
    """
    result: Sets = []
    for _ in range(1 + TRIES):
        if len(result) == 2:
            break
        scenes = draw(0 if result else 1)
        found = number(scenes)
        if found <= LARGEST and len(scenes) > 1 and found not in [other for _, other in result]:
            result.append((scenes, found))
    return result if len(result) == 2 and result[0][1] > 0 else None


def states(compare: str, stated: int, found: int) -> bool:
    """Whether the number found is as stated: equal, at least or at most."""
    return {"eq": found == stated, "geq": found >= stated, "leq": found <= stated}[compare]


def bound(rng: random.Random, first: int, second: int) -> tuple[str, int]:
    """A comparison and a number that hold for just one of the two: never "at most 0" or "at least 5"."""
    low, high = sorted((first, second))
    ways = ["eq"]
    if low > 0:
        ways.append("leq")
    if high < LARGEST:
        ways.append("geq")
    compare = rng.choice(ways)
    if compare == "geq":
        return compare, rng.randint(low + 1, high)
    if compare == "leq":
        return compare, rng.randint(low, high - 1)
    return compare, first


def phrases(compare: str, number: int) -> dict[str, str]:
    """The slots whose words depend on the number."""
    return {
        "is": "is" if number == 1 else "are",
        "quantity": PHRASES[compare].format(number),
        "images": "image" if number == 1 else "images",
        "contain": "contains" if number == 1 else "contain",
        "form": "singular" if number == 1 else "plural",
    }
