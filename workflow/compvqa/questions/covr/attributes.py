"""VERIFYATTR and QUERYATTR: the attribute of the one object that g without its attribute refers to."""

from __future__ import annotations

import random
from collections.abc import Iterator

from compvqa.programs.words import group_name
from compvqa.questions.covr.references import without_attribute
from compvqa.questions.covr.seed import Draft, Dropped, Seed, choose, fits
from compvqa.questions.covr.templates import Template, Variant, word

CHANGED = "0_attr"  # distractors that differ in nothing but the root's attribute


def drafts(template: Template, variant: Variant, seed: Seed, rng: random.Random) -> Iterator[Draft | Dropped]:
    """One image with the object, its attribute as in g or (other answer) changed; none in the rest.

    With ``options.verify`` (the text tells the attribute) both answers are made or none.
    """
    attribute = seed.graph.attribute
    ref = without_attribute(seed.graph)
    pool = seed.pool(template, variant, [ref])
    rest = pool.scenes(lambda scene_id: seed.count(ref, scene_id) == 0, skip=[CHANGED])
    own = [scene_id for scene_id in pool.positives if seed.count(ref, scene_id) == 1]
    changed = [
        negative.scene_id
        for key, found in pool.negatives.items()
        if fits(key, [CHANGED])
        for negative in found
        if seed.count(ref, negative.scene_id) == 1 and seed.count(seed.graph, negative.scene_id) == 0
    ]
    if not any(rest.values()):
        yield Dropped("no distractor without such an object")
        return
    verify = template.options.get("verify", False)
    if verify and not (own and changed):
        yield Dropped("no image with one such object" if changed else "no image with the other answer")
        return
    slots = {"attribute": attribute, "group": seed.group, "group_name": group_name(seed.group or "")}
    wording = word(variant, {"ref": ref}, slots)
    rng.shuffle(changed)
    for images, wanted in ((own, True if verify else attribute), (changed, False if verify else None)):
        if images:
            scenes = choose(rng, images, rest, fewest=1, most=1, prefer=template.prefer)
            yield Draft(wording, scenes, wanted)
        else:
            yield Dropped("no image with one such object" if images is own else "no image with the other answer")
