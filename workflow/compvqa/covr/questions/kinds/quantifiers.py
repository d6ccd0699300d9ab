"""VERIFYQUANT: whether all, some or none of the objects of a scope fulfil a condition; VERIFYQUANTATTR: whether
all have the same attribute of a group.

The condition is cut off from g: its root's attribute, a relation of the root to a leaf, a modifier, or both branches of
a V. What is left is the scope. Where the root leads to one object, its attribute and its relations are conditions too:
it is then referred to by the root ("No boys with a large tree behind them are wearing jeans").
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from compvqa.covr import inflection
from compvqa.covr.english import modified
from compvqa.covr.inflection import group_name, said_attribute
from compvqa.covr.questions.cuts import Leaf, inner_leaves, modifier_leaves, root_leaves, turns_round
from compvqa.covr.questions.references import condition_rows, with_edges, without_attribute
from compvqa.covr.questions.seed import Draft, Dropped, Pool, Seed, choose, fits
from compvqa.covr.questions.templates import Template, Variant, Wording, word
from compvqa.covr.subgraphs.subgraph import Edge, Held, Reference, Subgraph, make

OPERATORS = {"All": "All", "Some": "Some", "No": "None"}
SAME = "All with the same"  # attribute of a group, instead of a condition


@dataclass(frozen=True)
class Form:
    """One way to cut g: scope, condition, and the keys of distractors that differ only in the condition."""

    scope: Reference
    good: Reference  # the scope and the condition
    attribute: str | None
    edges: tuple[Edge, ...]
    keys: tuple[str, ...]
    leaf: Leaf | None = None  # where the condition is a modifier


@lru_cache(maxsize=20_000)
def forms(g: Subgraph, condition: str) -> Sequence[Form]:
    """The forms of one kind of condition: ``attribute``, ``relation``, ``both`` (branches of a V), ``modifier``, and of
    the object that the root leads to ``inner`` (its relations) or ``inner_attribute``."""
    return tuple(_forms(g, condition))


def _forms(g: Subgraph, condition: str) -> Iterator[Form]:
    if condition == "attribute":
        if g.attribute is not None:
            yield Form(without_attribute(g), g, g.attribute, (), ("0_attr",))
    elif condition == "inner_attribute":
        yield from _of_inner_attribute(g)
    elif condition == "modifier":
        for leaf in modifier_leaves(g):
            yield Form(leaf.ref, g, None, (leaf.edge,), (f"{leaf.node + 1}_name",), leaf)
    else:
        leaves = list(inner_leaves(g) if condition == "inner" else root_leaves(g))
        if condition != "both":
            for leaf in leaves:
                yield Form(leaf.ref, leaf.whole, None, (leaf.edge,), _keys(leaf.node, leaf.edge))
        if condition != "relation":
            yield from _of_both(leaves)


def _of_both(leaves: list[Leaf]) -> Iterator[Form]:
    """Two leaves of one object as one condition, if they are all that it has."""
    if len(leaves) == 2 and all(len(leaf.beside) == 1 for leaf in leaves):
        keys = tuple(key for leaf in leaves for key in _keys(leaf.node, leaf.edge))
        yield Form(_bare(leaves[0].ref), leaves[0].whole, None, tuple(leaf.edge for leaf in leaves), keys)


def _bare(ref: Reference) -> Reference:
    """The reference without the relations of what it refers to."""
    if isinstance(ref, Held):
        return replace(ref, edge=replace(ref.edge, target=with_edges(ref.edge.target, ())))
    return with_edges(ref, ())


def _of_inner_attribute(g: Subgraph) -> Iterator[Form]:
    """The attribute of the one object that the root leads to; its relations stay in the scope."""
    if turns_round(g) and g.edges[0].target.attribute is not None:
        [(number, edge)], subject = g.numbered_edges(), with_edges(g, ())
        scope = Held(subject, replace(edge, target=without_attribute(edge.target)))
        yield Form(scope, Held(subject, edge), edge.target.attribute, (), (f"{number + 1}_attr",))


def _keys(number: int, edge: Edge) -> tuple[str, ...]:
    """The keys of distractors that differ in a relation, its target or a modifier's object."""
    after = number + 1 + edge.target.size
    objects = [number + 1, *(after + 2 * index + 1 for index in range(len(edge.modifiers)))]
    return (f"{number}_relation", f"{number + 1}_attr", *(f"{node}_name" for node in objects))


def drafts(template: Template, variant: Variant, seed: Seed, rng: random.Random) -> Iterator[Draft | Dropped]:
    """Both answers for each form that the subgraph has, each with a quantifier drawn for it."""
    for form in forms(seed.graph, variant.options["condition"]):
        if isinstance(form.scope, Held) and inflection.is_mass(form.scope.name):
            continue
        yield from _of_form(template, variant, seed, form, rng)


def _of_form(
    template: Template, variant: Variant, seed: Seed, form: Form, rng: random.Random
) -> Iterator[Draft | Dropped]:
    same = variant.options.get("same", False)
    quantifier = SAME if same else rng.choice(sorted(OPERATORS))
    pool = seed.pool(template, variant, [form.scope])
    sets = _sets(quantifier, _Scenes.of(seed, pool, form, seed.group if same else None), rng)
    wording = _worded(variant, seed, form, quantifier) if sets else None
    for answer in (True, False):
        if wording is not None and answer in sets:
            yield Draft(wording, sets[answer], answer)
        else:
            yield Dropped(f"no image set for {quantifier} to be {str(answer).lower()}")


def _worded(variant: Variant, seed: Seed, form: Form, quantifier: str) -> Wording:
    condition = make(form.scope.name, None, form.edges)
    return word(
        variant,
        {"scope": form.scope, "condition": condition},
        {
            "modified": modified(form.leaf.edge, form.leaf.modifier) if form.leaf and form.leaf.modifier else "",
            "quantifier": quantifier,
            "operator": OPERATORS.get(quantifier),
            "attribute_said": said_attribute(form.attribute or ""),
            "group": seed.group,
            "group_name": group_name(seed.group or ""),
            "test": condition_rows(form.attribute, form.edges),
        },
    )


@dataclass(frozen=True)
class _Scenes:
    """The scenes of one form, by what they hold."""

    holding: list[str]  # an object in scope that fulfils the condition
    all_holding: list[str]  # the same, and none in scope that fails it
    failing: dict[str, list[str]]  # differ only in the condition: an object in scope, and all such fail
    other: dict[str, list[str]]  # no object in scope

    @staticmethod
    def of(seed: Seed, pool: Pool, form: Form, group: str | None) -> _Scenes:
        """The scenes of the pool; with a group, those where each object in scope has one attribute of it."""

        def clear(scene_id: str) -> bool:
            return group is None or None not in seed.values(form.scope, scene_id, group)

        scope, good = seed.numbers(form.scope), seed.numbers(form.good)
        holding = [scene_id for scene_id in pool.positives if good[scene_id] and clear(scene_id)]
        failing = pool.scenes(lambda s: scope[s] > 0 and good[s] == 0 and clear(s))
        return _Scenes(
            holding,
            [scene_id for scene_id in holding if good[scene_id] == scope[scene_id]],
            {key: found for key, found in failing.items() if found and fits(key, form.keys)},
            pool.scenes(lambda scene_id: scope[scene_id] == 0),
        )


def _sets(quantifier: str, scenes: _Scenes, rng: random.Random) -> dict[bool, list[str]]:
    """The image sets by answer, where there are any.

    All-false, Some-false and No-true hold an object in scope that fails; All-true, Some-true and No-false one
    that fulfils the condition. "The same" is false where one in scope fulfils the condition and one fails; to be
    true it is shown in two images if there are.
    """
    mixed = scenes.failing | {f"{key} other": found for key, found in scenes.other.items()}
    counterexamples = tuple(scenes.failing)
    result: dict[bool, list[str]] = {}
    if quantifier == "All":
        if scenes.all_holding:
            result[True] = choose(rng, scenes.all_holding, scenes.other)
        if counterexamples:
            result[False] = choose(rng, scenes.holding, mixed, prefer=counterexamples)
    elif quantifier == SAME:
        if scenes.all_holding:
            result[True] = choose(rng, scenes.all_holding, scenes.other, fewest=2)
        if scenes.holding and counterexamples:
            result[False] = choose(rng, scenes.holding, mixed, prefer=counterexamples)
    else:
        if scenes.holding:
            result[quantifier == "Some"] = choose(rng, scenes.holding, mixed, prefer=counterexamples)
        if counterexamples:
            result[quantifier == "No"] = choose(rng, [], mixed, prefer=counterexamples)
    return result
