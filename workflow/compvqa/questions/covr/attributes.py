"""VERIFYATTR, CHOOSEATTR and QUERYATTR: the attribute of the one object that g without its attribute refers
to."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from compvqa.programs.words import group_name
from compvqa.questions.covr.references import substitute, without_attribute
from compvqa.questions.covr.seed import Draft, Dropped, Pool, Seed, choose, fits
from compvqa.questions.covr.templates import Template, Variant, word

CHANGED = "0_attr"  # distractors that differ in nothing but the root's attribute
NO_OTHER = Dropped("no image with the other answer")


def drafts(template: Template, variant: Variant, seed: Seed, rng: random.Random) -> Iterator[Draft | Dropped]:
    """One image with the object, its attribute as in g or (other answer) changed; none in the rest.

    With ``options.ask: verify`` or ``choose`` (the text tells the attribute, or two) both answers are made or
    none; with ``query`` those that there are.
    """
    ask = template.options["ask"]
    ref = without_attribute(seed.graph)
    pool = seed.pool(template, variant, [ref])
    rest = pool.scenes(lambda scene_id: seed.count(ref, scene_id) == 0)
    if not any(rest.values()):
        yield Dropped("no distractor without such an object")
        return
    found = _Images.of(seed, pool)
    slots, wanted = {"group": seed.group, "group_name": group_name(seed.group or "")}, (None, None)
    if ask == "choose":
        other = found.narrowed(seed, rng)
        choices = [seed.graph.attribute, other]
        rng.shuffle(choices)
        slots |= {"first": choices[0], "second": choices[1]}
        wanted = (seed.graph.attribute, other)
    elif ask == "verify":
        slots |= {"attribute": seed.graph.attribute}
        wanted = (True, False)
    if ask != "query" and not (found.own and found.changed):
        yield NO_OTHER if found.own else Dropped("no image with one such object")
        return
    wording = word(variant, {"ref": ref}, slots)
    rng.shuffle(found.changed)
    for images, answer in zip((found.own, found.changed), wanted, strict=True):
        if images:
            yield Draft(wording, choose(rng, images, rest, fewest=1, most=1, prefer=template.prefer), answer)
        else:
            yield Dropped("no image with one such object") if images is found.own else NO_OTHER


@dataclass
class _Images:
    """The scenes with one object that g without its attribute refers to."""

    own: list[str]  # it has g's attribute
    changed: list[str]  # it has not
    names: dict[str, str]  # the attribute that each of them has instead

    @staticmethod
    def of(seed: Seed, pool: Pool) -> _Images:
        ref = without_attribute(seed.graph)
        own = [scene_id for scene_id in pool.positives if seed.count(ref, scene_id) == 1]
        names = {
            negative.scene_id: negative.names[0]
            for key, found in pool.negatives.items()
            if fits(key, [CHANGED])
            for negative in found
            if seed.count(ref, negative.scene_id) == 1 and seed.count(seed.graph, negative.scene_id) == 0
        }
        return _Images(own, list(names), names)

    def narrowed(self, seed: Seed, rng: random.Random) -> str | None:
        """Keep the scenes where just one of g's and another attribute holds; the other, drawn, if there is one."""
        if not self.changed:
            return None
        other = rng.choice(sorted(set(self.names.values())))
        changed = substitute(seed.graph, {(0, True): other})
        self.own = [scene_id for scene_id in self.own if seed.count(changed, scene_id) == 0]
        self.changed = [scene_id for scene_id in self.changed if seed.count(changed, scene_id) == 1]
        return other
