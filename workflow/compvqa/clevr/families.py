"""Which family of templates a question is of, told by its program, and by its text where two have the same programs.

CLEVR's released questions number their families over all files, the generator's within each file; files of others, and
those that went through other tools, have no numbers at all.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product

from compvqa.clevr.language import GROUPS, RELATION
from compvqa.clevr.templates import SLOT, Choice, Node, Template
from compvqa.clevr.words import OPTIONAL, THING, Words, filled_slots, without_other
from compvqa.programs.rows import Program

# The order of files by which released questions number their 90 families.
RELEASED = (
    "compare_integer",
    "comparison",
    "three_hop",
    "single_and",
    "same_relate",
    "single_or",
    "one_hop",
    "two_hop",
    "zero_hop",
)
PRIVATE = 0xE000  # first of the characters that stand for slots while a text is taken apart
Skeleton = tuple[tuple[str, tuple[int, ...]], ...]


class Families:
    """The families of templates, asked for the one that a program or a text is of."""

    def __init__(self, templates: Sequence[Template], words: Words):
        self.templates = {template.name: template for template in templates}
        self.words = words
        self._known: dict[str, re.Pattern] = {}
        self.by_skeleton: dict[Skeleton, list[Template]] = defaultdict(list)
        for template in templates:
            self.by_skeleton[skeleton(_barest(template))].append(template)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each family over all files, as released questions have it; files of others come last."""
        place = {file: number for number, file in enumerate(RELEASED)}
        names = sorted(self.templates, key=lambda name: place.get(self.templates[name].file, len(place)))
        return {name: number for number, name in enumerate(names)}

    @cached_property
    def named(self) -> Mapping[int, str]:
        """The family of each such number."""
        return {number: name for name, number in self.numbers.items()}

    def fitting(self, program: Program) -> dict[str, list[dict[str, str | None]]]:
        """The families that may have made a program, each with what its slots then hold."""
        found = {}
        for template in self.by_skeleton.get(skeleton(program), ()):
            if fits := list(fillings(template, program)):
                found[template.name] = fits
        return found

    def of_program(self, program: Program, text: str) -> list[str]:
        """The families that a question may be of: one, or several that neither program nor text tell apart."""
        found = self.fitting(program)
        if len(found) < 2:
            return list(found)
        said = [
            name
            for name, ways in found.items()
            if any(self._said(self.templates[name], filled).fullmatch(text) for filled in ways)
        ]
        return said or list(found)

    def of_text(self, text: str) -> list[str]:
        """The families that have such a text, whatever it asks for: all that is known without a program."""
        return [name for name in self._by_shape.get(self._shape(text), ()) if self._looks(name).fullmatch(text)]

    @cached_property
    def _by_shape(self) -> Mapping[str, list[str]]:
        """The families by their texts without the words that slots hold, so that few patterns need be tried."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for name, template in self.templates.items():
            plain = {"shape": THING, RELATION: self.words.values[RELATION][0]}
            groups = {slot: plain.get(kind, "") for slot, kind in template.slots.items()}
            for text in template.texts:
                for variant in variants(text, groups):
                    for other in (variant, without_other(variant)):
                        found[self._shape(other)][name] = None
        return {shape: list(names) for shape, names in found.items()}

    def _shape(self, text: str) -> str:
        bare = self._slot_words.sub(lambda match: "it" if match["noun"] else "so" if match["relation"] else "", text)
        return " ".join(bare.split())

    @cached_property
    def _slot_words(self) -> re.Pattern:
        adjectives = _either([word for group in GROUPS[:-1] for word in self._every(group)])
        noun, relation = _either(self._every("shape")), _either(self._every(RELATION))
        return re.compile(rf"\b(?:(?P<noun>{noun}s?)|(?P<relation>{relation})|{adjectives})\b")

    def _looks(self, name: str) -> re.Pattern:
        """What a family's texts look like, with any words in their slots."""
        if name not in self._known:
            slots = self.templates[name].slots
            groups = {slot: self._words_of(kind) for slot, kind in slots.items()}
            found = [_loose(text, groups) for text in self.templates[name].texts]
            self._known[name] = re.compile("|".join([*found, *map(without_other, found)]).replace(" ", " ?"))
        return self._known[name]

    def _every(self, kind: str) -> list[str]:
        """All words that a slot of a kind may hold."""
        values = [*self.words.values[kind], *([THING] if kind == "shape" else [])]
        return [word for value in values for word in (value, *self.words.synonyms.get(value, ()))]

    def _words_of(self, kind: str) -> str:
        return _either(self._every(kind)) + ("?" if kind not in ("shape", RELATION) else "")

    def _said(self, template: Template, filled: Mapping[str, str | None]) -> re.Pattern:
        """What a question may be called where its slots hold these words."""
        plain = filled_slots(template, filled)
        groups = {
            slot: _either(self.words.synonyms.get(value, (value,))) if value else "" for slot, value in plain.items()
        }
        found = [_pattern(text, groups) for text in template.texts]
        return re.compile("|".join({other for one in found for other in (one, without_other(one))}))


def _either(words: Sequence[str]) -> str:
    return f"(?:{'|'.join(sorted(map(re.escape, words), key=len, reverse=True))})"


def variants(text: str, groups: Mapping[str, str]) -> list[str]:
    """A text with and without each of the words that may be left out, its slots holding ``groups``; no space is left
    where one is empty."""
    parts = OPTIONAL.split(text)  # every second one may be left out
    found: dict[str, None] = {}
    for kept in product((True, False), repeat=len(parts) // 2):
        chosen = "".join(part for number, part in enumerate(parts) if number % 2 == 0 or kept[number // 2])
        found[" ".join(SLOT.sub(lambda match: groups[match[0]], chosen).split())] = None
    return list(found)


def _pattern(text: str, groups: Mapping[str, str]) -> str:
    """The regular expression of a text whose slots hold the expressions of ``groups``."""
    marks = {slot: chr(PRIVATE + number) if group else "" for number, (slot, group) in enumerate(groups.items())}
    pattern = "|".join(" ".join(map(re.escape, variant.split())) for variant in variants(text, marks))
    for slot, mark in marks.items():
        pattern = pattern.replace(mark, groups[slot]) if mark else pattern
    return pattern


def _loose(text: str, groups: Mapping[str, str]) -> str:
    """The same for slots that may be empty, where words may be left out on the way."""
    pattern = re.escape(" ".join(text.split())).replace("\\ ", " ").replace("\\[", "(?:").replace("\\]", ")?")
    for slot, group in groups.items():
        pattern = pattern.replace(slot, group)
    return pattern


def skeleton(program: Program) -> Skeleton:
    """A program without its filters and without words: the functions that are left, and which ones each takes."""
    place: list[int] = []
    rows: list[tuple[str, tuple[int, ...]]] = []
    for row in program:
        inputs = tuple(place[index] for index in row.dependencies)
        if row.operation.startswith("filter_"):
            place.append(inputs[0])
        else:
            place.append(len(rows))
            rows.append((row.operation, inputs))
    return tuple(rows)


def _barest(template: Template) -> Program:
    """A program of the template with as few filters as its nodes allow."""
    return template.program(
        [
            tuple(None if node.composite and template.slots[slot] != RELATION else slot for slot in node.slots)
            for node in template.nodes
        ]
    )


def fillings(template: Template, program: Program) -> Iterator[dict[str, str | None]]:
    """All that a template's slots may hold so that it gives the program; its constraints on empty slots are kept."""
    for choices in _fill(template.nodes, program, (), (), 0):
        pairs = zip(template.nodes, choices, strict=True)
        filled = {slot: word for node, words in pairs for slot, word in zip(node.slots, words, strict=True)}
        if all(filled[slot] is None for slot in template.empty):
            yield filled


def _fill(
    nodes: Sequence[Node], program: Program, place: tuple[int, ...], choices: tuple[Choice, ...], row: int
) -> Iterator[tuple[Choice, ...]]:
    """The choices of all nodes where the first ones' are known, which made the rows above ``row``."""
    number = len(choices)
    if number == len(nodes):
        if row == len(program):
            yield choices
        return
    node = nodes[number]
    inputs = tuple(place[index] for index in node.inputs)
    if node.composite is None:
        if row < len(program) and (program[row].operation, tuple(program[row].dependencies)) == (node.kind, inputs):
            yield from _fill(nodes, program, (*place, row), (*choices, tuple(program[row].arguments)), row + 1)
        return
    for choice, last in _composite(node, program, inputs[0], row):
        if last >= row:
            yield from _fill(nodes, program, (*place, last), (*choices, choice), last + 1)
        else:  # nothing was filtered: it gives what it takes or, in the original, what the row above gives
            for given in {inputs[0], row - 1}:
                yield from _fill(nodes, program, (*place, given), (*choices, choice), row)


def _composite(node: Node, program: Program, taken: int, row: int) -> Iterator[tuple[Choice, int]]:
    """What a composite's slots may hold where its rows begin at ``row``, each with its last row."""
    stages: list[str | None] = ["relate"] if node.composite["relate"] else []
    ways: list[tuple[Choice, int, int]] = [((), taken, row)]
    for group in [*stages, *GROUPS]:
        more = []
        for choice, given, at in ways:
            operation = group if group == "relate" else f"filter_{group}"
            if group != "relate":
                more.append(((*choice, None), given, at))
            if _is(program, at, operation, given):
                more.append(((*choice, *program[at].arguments), at, at + 1))
        ways = more
    end = node.composite["end"]
    for choice, given, at in ways:
        if not end:
            yield choice, at - 1
        elif _is(program, at, end, given):
            yield choice, at


def _is(program: Program, row: int, operation: str, given: int) -> bool:
    """Whether a row has the operation and takes just what another gives."""
    return row < len(program) and program[row].operation == operation and tuple(program[row].dependencies) == (given,)
