"""COUNT and VERIFYCOUNT: how many objects, or images with such objects, there are."""

from __future__ import annotations

import random
from collections.abc import Iterator

from compvqa.questions.covr.seed import Draft, Dropped, Seed, choose
from compvqa.questions.covr.templates import Template, Variant, word

LARGEST = 5  # the largest number in a question or answer
TRIES = 5  # draws of a second set of images whose number differs
PHRASES = {"eq": "{}", "geq": "at least {}", "leq": "at most {}"}


def drafts(template: Template, variant: Variant, seed: Seed, rng: random.Random) -> Iterator[Draft | Dropped]:
    """Two image sets with different numbers for one text; with ``options.verify`` it states a number."""
    g = seed.graph
    pool = seed.pool(template, variant, [g])
    negatives = pool.scenes(lambda scene_id: seed.count(g, scene_id) == 0)
    if len({scene_id for found in negatives.values() for scene_id in found}) < 2:
        yield Dropped("too few negatives")
        return
    sets = _two_sets(template, variant, seed, pool.positives, negatives, rng)
    if sets is None:
        yield Dropped("no two sets with different numbers")
        return
    (first, number), (second, other) = sets
    if not template.options.get("verify"):
        wording = word(variant, {"ref": g}, {})
        counts = variant.program[-1][0] == "Count"
        yield Draft(wording, first, number if counts else None)
        yield Draft(wording, second, other if counts else None)
        return
    compare, bound = _bound(rng, number, other)
    wording = word(variant, {"ref": g}, {"compare": compare, "number": bound} | _phrases(compare, bound))
    for scenes, found in sets:
        yield Draft(wording, scenes, {"eq": found == bound, "geq": found >= bound, "leq": found <= bound}[compare])


def _two_sets(
    template: Template,
    variant: Variant,
    seed: Seed,
    positives: list[str],
    negatives: dict[str, list[str]],
    rng: random.Random,
) -> list[tuple[list[str], int]] | None:
    """Two sets of scenes with their numbers: the first with a positive, both at most :data:`LARGEST`."""
    result: list[tuple[list[str], int]] = []
    for _ in range(1 + TRIES):
        if len(result) == 2:
            break
        fewest = 0 if result else 1
        scenes = choose(rng, positives, negatives, fewest, prefer=template.prefer)
        counts = [seed.count(seed.graph, scene_id) for scene_id in scenes]
        number = sum(count > 0 for count in counts) if variant.options.get("images") else sum(counts)
        if number <= LARGEST and len(scenes) > 1 and number not in [found for _, found in result]:
            result.append((scenes, number))
    return result if len(result) == 2 and result[0][1] > 0 else None


def _bound(rng: random.Random, first: int, second: int) -> tuple[str, int]:
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


def _phrases(compare: str, number: int) -> dict[str, str]:
    """The slots whose words depend on the number."""
    return {
        "is": "is" if number == 1 else "are",
        "quantity": PHRASES[compare].format(number),
        "images": "image" if number == 1 else "images",
        "form": "singular" if number == 1 else "plural",
    }
