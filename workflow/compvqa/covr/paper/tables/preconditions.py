"""Table 2: the question templates' preconditions, and how an example fills each."""

from __future__ import annotations

import re

from compvqa.covr.english import describe
from compvqa.covr.paper import examples
from compvqa.covr.questions.templates import Exclusion, Needs, Template
from compvqa.covr.subgraphs.subgraph import Subgraph, parse
from compvqa.paper.data import Inputs
from compvqa.paper.reference import Printed, Reference
from compvqa.paper.render import Cell, Row, Table

COLUMNS = ("Preconditions", "Example subgraphs", "Text", "Example output")
_SINGLE = {"Unique", "AssertUnique"}
_KINDS = {"attr": "attribute", "name": "noun", "object": "object", "relation": "relation"}
_LISTED = 3


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a template, the paper's in its order.

    Preconditions and template are what the template's file says; the subgraphs are those of the example: the seed's
    and, for one of the images, a distractor's.
    """
    found = list(examples.of_templates(inputs, ["template", "text", "tree", "seed", "scene_ids"], reference.rows))
    near = examples.related(inputs, [question["seed"] for _, _, question in found if question])
    rows = []
    for name, template, question in found:
        texts = "\n".join(dict.fromkeys(variant.text for variant in template.variants.values())) if template else None
        cells = {
            "Preconditions": Cell("\n".join(preconditions(template)) if template else None),
            "Example subgraphs": Cell("\n".join(_subgraphs(question, near)) if question else None),
            "Text": Cell(texts, marks=examples.slots_of(texts or "")),
            "Example output": Cell(
                question["text"] if question else None,
                marks=examples.slots(template, question["text"]) if template and question else (),
            ),
        }
        rows.append(Row(name, tuple(_beside(cell, reference.value(name, column)) for column, cell in cells.items())))
    notes = (
        "Preconditions: what the template's file asks of a subgraph g and of the images that are found for it. "
        "A slot {name:form} is a reference to objects, in that form. Underlined: slots.",
        *reference.notes,
    )
    return Table(reference.title, reference.citation, "Template", COLUMNS, tuple(rows), notes, stacked=True)


def _beside(cell: Cell, paper: Printed) -> Cell:
    return Cell(cell.value, paper=paper, form="text", marks=cell.marks)


def preconditions(template: Template) -> list[str]:
    """What a template's file asks for, in words."""
    needs = template.needs
    wanted = [_short(name) for name in Needs.model_fields if name != "keys" and getattr(needs, name)]
    wanted += [f"distractors differ in {_key(key)}" for key in needs.keys]
    wanted += [f"preferred: those that differ in {_key(key)}" for key in template.prefer]
    wanted += [f"not: those that differ in {_key(key)}" for key in template.forbid]
    programs = {name: {row[0] for row in variant.program} for name, variant in template.variants.items()}
    wanted += _of_variants("each reference is to one object in all images", template, lambda n: programs[n] & _SINGLE)
    others = "no image seems to hold more of the objects than are annotated"
    wanted += _of_variants(others, template, lambda n: template.variants[n].others_exist)
    wanted += [_excluded(exclusion) for exclusion in template.exclude]
    return [f"({number}) {text}" for number, text in enumerate(wanted, 1)] or ["(no conditions)"]


def _short(need: str) -> str:
    """A need's description as part of a list."""
    text = (Needs.model_fields[need].description or "").rstrip(".")
    return text[0].lower() + text[1:]


def _of_variants(text: str, template: Template, holds) -> list[str]:
    """The condition if some variant has it, with which they are unless it is all."""
    names = [name for name in template.variants if holds(name)]
    if not names:
        return []
    return [text if len(names) == len(template.variants) else f"{text} ({', '.join(names)})"]


def _key(pattern: str) -> str:
    """What the key of a distractor says that differs: "the root's attribute", "an object and one node more"."""
    here, _, more = pattern.partition("_neg_")
    if more:
        kind = _KINDS[more.split("_")[0]]
        also = f"the root's {kind}" if more.endswith("root") else f"the {kind} at a leaf"
        return f"{also} and in one more node" if here == "*" else f"{_key(here)} and in {also}"
    place, _, kind = here.partition("_")
    whose = "the root's" if place == "0" else "an object's" if kind != "relation" else "a"
    return f"{whose} {_KINDS[kind]}"


def _excluded(exclusion: Exclusion) -> str:
    """What a template leaves out, the first few of long lists: "not asked: color of building, tree …"."""
    whose = f"things called {_few(exclusion.nouns)}" if exclusion.nouns else "anything"
    return f"not asked: {_few(exclusion.groups)} of {whose}" if exclusion.groups else f"not asked of {whose}"


def _few(names: tuple[str, ...]) -> str:
    named = [re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower() for name in names]
    more = len(named) - _LISTED
    return ", ".join(named[:_LISTED]) + (f" … ({more} more)" if more > 0 else "")


def _subgraphs(question: dict, near: dict[int, dict[str, examples.Related]]) -> list[str]:
    """The seed's subgraph in words, and that of a distractor among the images: one that the text names, if any."""
    g = parse(question["tree"])
    shown = [near[question["seed"]].get(scene_id) for scene_id in question["scene_ids"]]
    others = [(scene, scene.subgraph(g)) for scene in shown if scene and not scene.contains]
    others.sort(key=lambda other: not _named(other[1], question["text"]))
    lines = [f"g: {describe(g)}"]
    for scene, other in others[:1]:
        what = ", ".join(examples.differences(g, scene)) or "only one of them"
        lines.append(f"distractor ({what}): {describe(other)}")
    return lines


def _named(g: Subgraph, text: str) -> bool:
    return any(describe(g, number=number) in text for number in ("singular", "plural"))
