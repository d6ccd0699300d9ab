"""Question templates as data: one YAML file each in a folder (Tables 1 and 2 of COVR)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol

from pydantic import Field, ValidationError, field_validator

from compvqa import plugins
from compvqa.covr.english import clause, describe, held, noun_phrase, predicate
from compvqa.covr.inflection import be, plural
from compvqa.covr.questions import skeleton
from compvqa.covr.questions.references import between_rows, object_rows, rows
from compvqa.covr.questions.skeleton import SkeletonRow
from compvqa.covr.subgraphs.subgraph import Held, Reference, Subgraph
from compvqa.definitions import Definitions
from compvqa.errors import InputError
from compvqa.files import read_yaml
from compvqa.programs.rows import Row, to_json, walk
from compvqa.settings import Settings


class Needs(Settings):
    """What a seed must have for a template."""

    relation: bool = Field(True, description="The subgraph has a relation.")
    attribute: bool = Field(False, description="The root has an attribute.")
    group: bool = Field(False, description="The root's attribute has a group (color, material …).")
    countable: bool = Field(False, description="The root's noun can be counted ('dog', not 'people').")
    plural: bool = Field(False, description="The root's noun has a plural (not 'snow').")
    multi: bool = Field(False, description="The start scene holds 2-4 instances.")
    keys: tuple[str, ...] = Field((), description="A distractor whose key fits one of these patterns.")


class Exclusion(Settings):
    """Seeds that a template leaves out although it could use them."""

    groups: tuple[str, ...] = Field((), description="Groups of the root's attribute; empty: all.")
    nouns: tuple[str, ...] = Field((), description="Root nouns, also what begins with one ('tree trunk'); empty: all.")

    def holds(self, noun: str, group: str | None) -> bool:
        """Whether an object of that noun and attribute group is left out."""
        return (not self.groups or group in self.groups) and (
            not self.nouns or any(_is_kind_of(noun, other) for other in self.nouns)
        )


def _is_kind_of(noun: str, other: str) -> bool:
    """Whether the noun is ``other``, its plural, or begins with it: "trees", "tree trunk"."""
    return noun in (other, plural(other)) or noun.startswith(f"{other} ")


class Variant(Settings):
    """One form of a template: its text, its program and what its images must fulfil."""

    text: str = Field(
        description="The question. {slot}s are filled by the template's kind; {ref:the} and the like are "
        "forms of a reference (see Phrase)."
    )
    program: tuple[SkeletonRow, ...] = Field(
        description="Rows [operator, arguments, dependencies]; [Refer, [name], []] stands for the rows of a "
        "reference, [Objects, [$edge], [row]] for those that find all that the row's objects have the edge's relation "
        "to, [Between, [$edge], [subject, objects]] for those that find its relations with its modifiers between them, "
        "and an argument or operator '$slot' for a slot's value."
    )
    others_exist: bool = Field(False, description="O: no image that holds more instances than annotated.")
    options: dict[str, Any] = Field({}, description="What only this kind of template reads.")

    @cached_property
    def slots(self) -> set[str]:
        """The names that the kind must fill."""
        return skeleton.slots(self.text, self.program)

    @field_validator("text")
    @classmethod
    def _text(cls, text: str) -> str:
        return skeleton.check_text(text, FORMS)

    @field_validator("program")
    @classmethod
    def _program(cls, rows: tuple[SkeletonRow, ...]) -> tuple[SkeletonRow, ...]:
        skeleton.check_program(rows)
        return rows


class Template(Settings):
    """A template: preconditions, which negatives it wants, and variants, each with questions of its own."""

    name: str = Field(description="The template's name in the paper.")
    kind: str = Field(description="The module in covr/questions/kinds that fills the slots and chooses images.")
    needs: Needs = Needs()
    prefer: tuple[str, ...] = Field((), description="Negative keys (patterns) that are dealt first.")
    forbid: tuple[str, ...] = Field((), description="Negative keys (patterns) that are never used.")
    exclude: tuple[Exclusion, ...] = ()
    options: dict[str, Any] = Field({}, description="What only this kind of template reads.")
    variants: dict[str, Variant]

    def excludes(self, noun: str, group: str | None) -> bool:
        """Whether the template asks nothing about objects of that noun and attribute group."""
        return any(exclusion.holds(noun, group) for exclusion in self.exclude)


def load(*folders: Path) -> list[Template]:
    """The templates in these folders, by file name; of two files of one name that of the first folder counts.

    Raises InputError that names a file that is wrong, or two whose templates have one name.
    """
    found = Definitions(*folders)
    if not found.names():
        raise InputError(f"{folders[0]} holds no question templates (*.yaml): give the folder that does.")
    named: dict[str, Path] = {}
    templates = []
    for path in map(found.path, found.names()):
        templates.append(_read(path))
        name = templates[-1].name
        if name in named:
            raise InputError(f"{path} and {named[name]} both have the name {name}: give one of them another.")
        named[name] = path
    return templates


def _read(path: Path) -> Template:
    try:
        template = Template.model_validate(read_yaml(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise InputError(f"{path}: {where}: {first['msg'].removeprefix('Value error, ')}.") from None
    module_of(template, path)
    return template


class Kind(Protocol):
    """A module of a kind of template."""

    @property
    def drafts(self) -> Callable[..., Iterator[Any]]:
        """``drafts(template, variant, seed, rng)``: questions of a seed, and why there is none."""


def module_of(template: Template, path: Path | str = "") -> Kind:
    """The module of the template's kind."""
    where = f"kind of template ({path or template.name})"
    return plugins.find("compvqa.covr.questions.kinds", template.kind, "drafts", where)


@dataclass(frozen=True)
class Wording:
    """A question's text, the same with parentheses for annotators, and its program."""

    text: str
    annotator_text: str
    program: list[Row]

    @cached_property
    def program_json(self) -> str:
        return to_json(self.program)

    @cached_property
    def names(self) -> frozenset[str]:
        """All names that the program's rows, those of its sub-programs included, are given."""
        return frozenset(name for row in walk(self.program) for name in row.arguments if isinstance(name, str))


class Phrase:
    """A reference inside a template's text; what follows the colon is its form.

    ``a`` "a sink that is below a towel", ``the``, ``plural`` (no article), ``singular`` (no article),
    ``clause`` "people are erasing a mark", ``predicate`` "are erasing a mark", ``be`` "is" or "are", ``Be``.
    """

    def __init__(self, g: Reference, parentheses: bool):
        self.g, self.parentheses = g, parentheses

    def __format__(self, form: str) -> str:
        if isinstance(self.g, Held):
            return held(self.g, form, self.parentheses)
        return FORMS[form](self.g, self.parentheses)


FORMS: dict[str, Callable[[Subgraph, bool], str]] = {
    "a": lambda g, p: describe(g, parentheses=p),
    "the": lambda g, p: describe(g, definite=True, parentheses=p),
    "plural": lambda g, p: describe(g, number="plural", parentheses=p),
    "singular": lambda g, p: noun_phrase(g, parentheses=p),
    "clause": lambda g, p: clause(g, parentheses=p),
    "predicate": lambda g, p: predicate(g, "plural", p),
    "be": lambda g, p: be(g.name, "singular"),
    "Be": lambda g, p: be(g.name, "singular").capitalize(),
}


EDGE_ROWS: dict[str, Callable[..., list[Row]]] = {"Objects": object_rows, "Between": between_rows}


def word(variant: Variant, references: Mapping[str, Reference], slots: Mapping[str, Any]) -> Wording:
    """The variant's text and program with its references and slots filled in."""
    given = {*references, *slots}
    if unfilled := sorted(variant.slots - given):
        raise InputError(
            f"the template text {variant.text!r}, or its program, has a slot {unfilled[0]!r} that its kind does not "
            f"fill: use {', '.join(sorted(given))}, or another kind."
        )
    text = annotators = _said(variant, references, slots, False)
    if any(map(_nests, references.values())):
        annotators = _said(variant, references, slots, True)
    return Wording(text, annotators, fill(variant.program, references, slots))


def _said(variant: Variant, references: Mapping[str, Reference], slots: Mapping[str, Any], parentheses: bool) -> str:
    phrases = {name: Phrase(g, parentheses) for name, g in references.items()}
    text = variant.text.format(**slots, **phrases)
    return text[0].upper() + text[1:]


def _nests(g: Reference) -> bool:
    """Whether something in the reference has relations of its own, so that it gets parentheses for annotators."""
    parts = (g.subject, g.edge.target) if isinstance(g, Held) else (g,)
    return any(edge.target.edges for part in parts for edge in part.edges)


_rows = lru_cache(maxsize=20_000)(rows)  # one reference is in questions of several templates


def fill(skeleton: tuple[SkeletonRow, ...], references: Mapping[str, Reference], slots: Mapping[str, Any]) -> list[Row]:
    """The program of a skeleton, whose own dependencies count the skeleton's rows."""

    def value(item: str | int) -> Any:
        return slots[item[1:]] if isinstance(item, str) and item.startswith("$") else item

    program: list[Row] = []
    at: list[int] = []  # where each row of the skeleton ended up
    for operation, arguments, dependencies in skeleton:
        if operation == "Refer":
            program.extend(_rows(references[str(arguments[0])], len(program)))
        elif operation in EDGE_ROWS:
            given = (at[index] for index in dependencies)
            program.extend(EDGE_ROWS[operation](value(arguments[0]), *given, len(program)))
        else:
            where = tuple(at[index] for index in dependencies)
            program.append(Row(value(operation), tuple(map(value, arguments)), where))
        at.append(len(program) - 1)
    return program
