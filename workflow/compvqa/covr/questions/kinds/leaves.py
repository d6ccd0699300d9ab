"""CHOOSEOBJECT, QUERYOBJECT and CHOOSEREL: a leaf triplet is cut off from g and asked about.

What is left of g refers to one object in one image; no other image holds such an object.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from compvqa.covr.english import either_modifier, either_relation, either_target, what, what_modifier
from compvqa.covr.inflection import PREPOSITIONS, be, possessive, unsayable
from compvqa.covr.questions.cuts import LEAVES, Leaf
from compvqa.covr.questions.references import matches, relations_between, targets
from compvqa.covr.questions.seed import Draft, Dropped, Pool, Seed, choose, fits
from compvqa.covr.questions.templates import Template, Variant, Wording, word
from compvqa.covr.subgraphs.subgraph import Edge, Subgraph, make

Slots = dict[str, object]


@lru_cache(maxsize=20_000)
def leaves(g: Subgraph, where: str) -> Sequence[Leaf]:
    """The leaves that can be asked about: no relation of g is "of", none beside a leaf has the same name."""
    if _says_of(g):
        return ()
    found = LEAVES[where](g)
    return [leaf for leaf in found if (leaf.modifier.name if leaf.modifier else leaf.edge.name) not in leaf.beside]


def _says_of(g: Subgraph) -> bool:
    return any(edge.name == "of" or _says_of(edge.target) for edge in g.edges)


def _subject(leaf: Leaf) -> tuple[str, str]:
    """ "is" or "are" of what has the leaf, and its possessive."""
    verb = be(leaf.ref.name, "singular")
    return verb, possessive(leaf.ref.name, verb)


class ObjectAsked:
    """What the leaf is."""

    kind = "noun"

    def __init__(self, leaf: Leaf):
        self.leaf, self.answer = leaf, leaf.edge.target.name
        self.changed, self.decoys = f"{leaf.node + 1}_name", f"*_neg_object_{leaf.node + 1}"
        self.edge, self.sayable = leaf.edge, leaf.edge.target.attribute is None

    def found(self, seed: Seed, scene_id: str) -> set[str]:
        """What the one subject has the relation to, if that is one object."""
        scene = seed.scene(scene_id)
        found = targets(scene, matches(scene, self.leaf.ref), self.edge)
        return {scene.objects[found[0]].name} if len(found) == 1 else set()

    def slots(self, choices: Sequence[str]) -> Slots:
        if choices:
            return {"asked": either_target(self.leaf.edge, choices, *_subject(self.leaf)), "edge": self.leaf.edge}
        before, asked = what(self.leaf.edge, *_subject(self.leaf))
        return {"what": before, "asked": asked, "edge": self.leaf.edge}


class ModifierAsked(ObjectAsked):
    """What the modifier leads to; the relation's name with the modifier's is that of the relation to it."""

    def __init__(self, leaf: Leaf):
        assert leaf.modifier is not None
        self.leaf, self.answer = leaf, leaf.modifier.noun
        self.changed, self.decoys = f"{leaf.node + 1}_name", f"*_neg_object_{leaf.node + 1}"
        self.modifier, self.sayable = leaf.modifier.name, True
        self.edge = Edge(f"{leaf.edge.name} {self.modifier}", make(self.answer))

    def slots(self, choices: Sequence[str]) -> Slots:
        if choices:
            asked = either_modifier(self.leaf.edge, self.modifier, choices, *_subject(self.leaf))
            return {"asked": asked, "edge": self.edge}
        before, asked = what_modifier(self.leaf.edge, self.modifier, *_subject(self.leaf))
        return {"what": before, "asked": asked, "edge": self.edge}


class RelationAsked:
    """Which relation the root has to the leaf; its modifiers go with each relation that may be the answer."""

    kind = "relation"

    def __init__(self, leaf: Leaf):
        self.leaf, self.answer = leaf, leaf.edge.name
        self.changed, self.decoys = f"{leaf.node}_relation", f"*_neg_relation_{leaf.node}"
        self.sayable = True

    def found(self, seed: Seed, scene_id: str) -> set[str]:
        """The relations that the one subject has to such an object."""
        scene = seed.scene(scene_id)
        subjects, objects = matches(scene, self.leaf.ref), matches(scene, self.leaf.edge.target)
        return relations_between(scene, subjects, objects, self.leaf.edge)

    def slots(self, choices: Sequence[str]) -> Slots:
        verb, asked = either_relation((choices[0], choices[1]), self.leaf.edge, *_subject(self.leaf))
        return {"verb": verb, "asked": asked, "edge": self.leaf.edge}


ASKED: dict[str, Callable[..., ObjectAsked | RelationAsked]] = {
    "object": ObjectAsked,
    "modifier": ModifierAsked,
    "relation": RelationAsked,
}
Asked = ObjectAsked | RelationAsked


def drafts(template: Template, variant: Variant, seed: Seed, rng: random.Random) -> Iterator[Draft | Dropped]:
    """For each leaf g's answer, and another one where there is an image for it.

    ``options.asked`` is ``object`` or ``relation``, the variant's ``options.leaf`` one of :data:`LEAVES`. With
    ``options.choose`` the text gives two answers to choose from; the second is seen in a distractor that lacks the
    subject, which is among the images.
    """
    skipped = template.options.get("not_relations", ())
    where = variant.options["leaf"]
    made = ASKED["modifier" if where == "modifier" else template.options["asked"]]
    asked = [made(leaf) for leaf in leaves(seed.graph, where) if leaf.edge.name not in skipped]
    asked = [about for about in asked if about.sayable]
    if not template.options.get("choose"):
        asked = [about for about in asked if not _runs_together(about.leaf.edge)]
    if not asked and where == "root":
        yield Dropped("no leaf to ask about")
    for about in asked:
        yield from _of_leaf(template, variant, seed, about, rng)


def _runs_together(edge: Edge) -> bool:
    """Whether two prepositions meet where the target, or a modifier's, is asked for: "What is the man jumping from into
    water?", "… jumping from it into?"."""
    return bool(edge.modifiers) and edge.name.split(" ")[-1] in PREPOSITIONS


def _of_leaf(
    template: Template, variant: Variant, seed: Seed, about: Asked, rng: random.Random
) -> Iterator[Draft | Dropped]:
    ref, answer = about.leaf.ref, about.answer
    pool, numbers = seed.pool(template, variant, [ref]), seed.numbers(ref)
    rest = pool.scenes(lambda scene_id: numbers[scene_id] == 0)
    if not any(rest.values()):
        yield Dropped("no distractor without such an object")
        return
    others, decoys, choices = _others(seed, about, pool), {}, []
    other = rng.choice(sorted(others)) if others else None
    if template.options.get("choose"):
        decoys = _by_name(
            pool, about.kind, about.decoys, lambda scene_id, name: numbers[scene_id] == 0 and name != answer
        )
        if not decoys:
            yield Dropped("no distractor with another choice")
            return
        other = rng.choice(sorted(decoys.keys() & others.keys()) or sorted(decoys))
        choices = rng.sample([answer, other], 2)
    own = [scene_id for scene_id in pool.positives if _gives(seed, about, scene_id, answer, other)]
    if not own:
        yield Dropped("no image with one such object")
        return
    wording = _worded(variant, about, choices)
    decoy = [rng.choice(decoys[other])] if other is not None and decoys else []
    yield Draft(wording, _set(rng, [own[0], *decoy], rest, about), answer)
    if other in others:
        yield Draft(wording, _set(rng, [rng.choice(others[other])], rest, about), other)
    else:
        yield Dropped("no image with the other answer")


def _others(seed: Seed, about: Asked, pool: Pool) -> dict[str, list[str]]:
    """The scenes with another answer, by that answer."""
    return _by_name(
        pool, about.kind, about.changed, lambda scene_id, name: _gives(seed, about, scene_id, name, about.answer)
    )


def _by_name(pool: Pool, kind: str, pattern: str, keep: Callable[[str, str], bool]) -> dict[str, list[str]]:
    """The distractors of keys that fit the pattern, by the last of the names that differ there; it is of that kind."""
    result: dict[str, list[str]] = {}
    for key, found in pool.negatives.items():
        for negative in found if fits(key, (pattern,)) else ():
            name = negative.names[-1]
            if not unsayable(kind, name) and keep(negative.scene_id, name):
                result.setdefault(name, []).append(negative.scene_id)
    return result


def _gives(seed: Seed, about: Asked, scene_id: str, answer: str, other: str | None) -> bool:
    """Whether the scene holds one subject, and the answer is right for it but not the other."""
    if seed.numbers(about.leaf.ref)[scene_id] != 1:
        return False
    found = about.found(seed, scene_id)
    return answer in found and other not in found


def _worded(variant: Variant, about: Asked, choices: Sequence[str]) -> Wording:
    slots = about.slots(choices) | dict(zip(("first", "second"), choices, strict=False))
    return word(variant, {"ref": about.leaf.ref, "object": about.leaf.edge.target}, slots)


def _set(rng: random.Random, shown: list[str], rest: dict[str, list[str]], about: Asked) -> list[str]:
    return choose(rng, shown, rest, fewest=len(shown), most=len(shown), prefer=(about.decoys,))
