"""COUNTGROUPBY and VERIFYCOUNTGROUPBY: in how many images there are so many objects."""

from __future__ import annotations

import random
from collections.abc import Iterator

from compvqa.covr.questions.kinds.counting import LARGEST, PHRASES, Sets, bound, phrases, states, two_sets
from compvqa.covr.questions.seed import Draft, Dropped, Seed, choose
from compvqa.covr.questions.templates import Template, Variant, word

KEEP = {"eq": "KeepIfValuesCountEq", "geq": "KeepIfValuesCountGeq", "leq": "KeepIfValuesCountLeq"}


def drafts(template: Template, variant: Variant, seed: Seed, rng: random.Random) -> Iterator[Draft | Dropped]:
    """Two image sets with different numbers of such images for one text.

    With k instances in the start scene the text says exactly k, or (not with ``options.verify``, where the text
    states the number of images) at least 1..k or at most k..5.
    """
    pool = seed.pool(template, variant, [seed.graph])
    numbers = seed.numbers(seed.graph)
    several = [scene_id for scene_id in pool.multiples if numbers[scene_id] > 1]
    if not several:
        yield Dropped("no image with several instances")
        return
    negatives = pool.scenes(lambda scene_id: numbers[scene_id] < 2)
    verify = template.options.get("verify", False)
    ways = ["eq"] if verify else rng.sample(sorted(KEEP), len(KEEP))
    for compare in ways:
        size = _size(compare, seed.n_instances, rng)
        sets = _two_sets(compare, size, seed, several, negatives, template, rng)
        if sets is not None:
            break
    else:
        yield Dropped("no two sets with different numbers")
        return
    quantity = f"exactly {size}" if compare == "eq" else PHRASES[compare].format(size)
    slots = {"keep": KEEP[compare], "size": size, "size_phrase": quantity}
    slots |= {"form": "singular" if size == 1 else "plural"}
    if verify:
        stated, number = bound(rng, *(found for _, found in sets))
        slots = {"compare": stated, "number": number} | phrases(stated, number) | slots
    wording = word(variant, {"ref": seed.graph}, slots)
    for scenes, found in sets:
        yield Draft(wording, scenes, states(stated, number, found) if verify else found)


def _size(compare: str, instances: int, rng: random.Random) -> int:
    if compare == "eq":
        return instances
    return rng.randint(1, instances) if compare == "geq" else rng.randint(instances, LARGEST)


def _two_sets(
    compare: str,
    size: int,
    seed: Seed,
    several: list[str],
    negatives: dict[str, list[str]],
    template: Template,
    rng: random.Random,
) -> Sets | None:
    """Two sets of scenes with the numbers of those that hold such a number of objects.

    "At most 3" is true of an image with none, which GroupByImages leaves out: it is asked only of images that all
    hold some, and of so many of them as are drawn.
    """
    numbers = seed.numbers(seed.graph)
    some = {key: [s for s in found if numbers[s]] for key, found in negatives.items()}

    def draw(fewest: int) -> list[str]:
        rest = negatives
        if compare == "leq":
            rest = {key: rng.sample(found, rng.randint(0, len(found))) for key, found in some.items()}
        return choose(rng, several, rest, fewest, template.options["most_positives"], template.prefer)

    def number(scenes: list[str]) -> int:
        counts = [numbers[scene_id] for scene_id in scenes]
        return sum(count > 0 and states(compare, size, count) for count in counts)

    return two_sets(draw, number)
