"""A linter of CLEVR's templates: what makes a family of questions useless, or worse than it looks.

Told of each family is whether it can never be asked, can have one answer only, says the same text twice, or always
doubles another family. What follows from the template alone is proved; the rest is searched for in scenes, so that more
of them, or other ones, may show that a finding is none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations, permutations
from pathlib import Path
from tempfile import TemporaryDirectory

from compvqa.clevr.executor import Value, in_words
from compvqa.clevr.families import Families, variants
from compvqa.clevr.generate import Start, keyed, possible
from compvqa.clevr.language import RELATION
from compvqa.clevr.pairs import PairRules
from compvqa.clevr.scene import Scene
from compvqa.clevr.search import Plan
from compvqa.clevr.templates import Template
from compvqa.clevr.verify import scenes_of
from compvqa.clevr.words import THING, Words, text
from compvqa.errors import InputError
from compvqa.programs.rows import Row
from compvqa.scenes.worlds.clevr import record
from compvqa.scenes.worlds.clevr.sample import sample_scene
from compvqa.scenes.worlds.clevr.settings import ClevrSettings
from compvqa.seeds import by_rank

NEVER, ONE_ANSWER, REPEATED, DOUBLE = "never asked", "one answer", "repeated text", "double"
ASKED = 12  # questions of a family that are held beside the other families


@dataclass(frozen=True)
class Finding:
    """What is wrong with a family; ``scenes``: how many were searched, None where it follows from the template;
    ``other``: the family that it doubles, or has a text of."""

    template: str
    fault: str
    detail: str
    scenes: int | None = None
    other: str | None = None

    def __str__(self) -> str:
        how = "proved" if self.scenes is None else f"searched in {self.scenes:,} scenes"
        return f"{self.template}: {self.fault}: {self.detail} ({how})"


def lint(
    templates: Sequence[Template],
    words: Words,
    scenes: Sequence[Scene],
    sets: bool = True,
    most_counted: int = 10,
    seed: int = 1,
) -> list[Finding]:
    """All findings, in the order of the templates.

    ``sets`` is how two counts must differ (see ``distinct`` of :class:`compvqa.clevr.generate.GenerateSettings`), and
    ``most_counted`` the largest number that may be an answer.
    """
    found = [*repeated(templates), *doubled(templates)]
    for template in templates:
        found += answered(template, words, sets, most_counted)
    proved = {(item.template, item.fault) for item in found}
    starts = [keyed(scene, words, seed, PairRules(words)) for scene in scenes]
    asked: dict[str, list[tuple[list[Row], str]]] = {}
    for template in templates:
        hunt = _Hunt(Plan.of(template, sets), possible(template, words, most_counted))
        if not proved & {(template.name, NEVER), (template.name, ONE_ANSWER)}:
            found += hunt.answers(starts)
        asked[template.name] = hunt.questions(starts, words)
    both = {frozenset((item.template, item.other)) for item in found if item.fault == DOUBLE}
    more = confused(templates, words, asked, len(scenes))
    found += (item for item in more if frozenset((item.template, item.other)) not in both)
    place = {template.name: number for number, template in enumerate(templates)}
    return sorted(found, key=lambda item: place[item.template])


def answered(template: Template, words: Words, sets: bool = True, most_counted: int = 10) -> Iterator[Finding]:
    """What is proved of a family's answers: that there is none, or one."""
    same = _same(template)
    for pair in template.different:
        if same[pair[0]] == same[pair[1]]:
            yield Finding(template.name, NEVER, f"nodes {pair[0]} and {pair[1]} must differ and are always the same")
            return
    last = template.nodes[-1]
    allowed = possible(template, words, most_counted)
    if len(allowed) == 1:
        yield Finding(template.name, ONE_ANSWER, f"{in_words(allowed[0])}, since there is no other word for it")
    elif len(last.inputs) == 2 and same[last.inputs[0]] == same[last.inputs[1]]:
        told = in_words(last.kind.startswith("equal_"))
        yield Finding(template.name, ONE_ANSWER, f"{told}, since {last.kind} compares a thing with itself")
    elif last.kind.startswith("equal_") and _outputs_differ(template, last.inputs, sets):
        detail = f"no, since the nodes {last.inputs[0]} and {last.inputs[1]} that {last.kind} compares must differ"
        yield Finding(template.name, ONE_ANSWER, detail)


def _same(template: Template) -> list[tuple]:
    """For each node what it gives; what is equal is always the same."""
    found: list[tuple] = []
    for number, node in enumerate(template.nodes):
        own = number if node.slots else None
        found.append((node.kind, own, *(found[i] for i in node.inputs)))
    return found


def _outputs_differ(template: Template, pair: tuple[int, ...], sets: bool) -> bool:
    """Whether what two nodes give must differ; with ``sets`` two counts need not."""
    ends = {node.composite["end"] if (node := template.nodes[i]).composite else None for i in pair}
    return (min(pair), max(pair)) in template.different and not (sets and ends == {"count"})


def repeated(templates: Sequence[Template]) -> Iterator[Finding]:
    """Texts of a family that say nothing which another one of it does not, and so are as if they stood there twice; and
    texts that two families share, whatever their slots are called."""
    shared: dict[str, dict[str, int]] = defaultdict(dict)
    for template in templates:
        said = [_said(template, number) for number in range(len(template.texts))]
        for (one, ways), (other, more) in combinations(enumerate(said), 2):
            if ways <= more or more <= ways:
                detail = f"text {other} (counted from 0) is text {one} again: {template.texts[other]}"
                yield Finding(template.name, REPEATED, detail)
        kinds = {slot: f"<{kind}>" for slot, kind in template.slots.items()}
        for number in range(len(template.texts)):
            for way in _said(template, number, called=kinds):
                shared[way].setdefault(template.name, number)
    told = set()
    for places in shared.values():
        first, *others = places
        for name in others:
            if (first, name) not in told:
                told.add((first, name))
                detail = f"text {places[name]} (counted from 0) is also text {places[first]} of {first}"
                yield Finding(name, REPEATED, detail, None, first)


def _said(
    template: Template, number: int, empty: Set[str] = frozenset(), called: Mapping[str, str] | None = None
) -> set[str]:
    """All that a text of a template may read, its slots by name, or as they are ``called``; those that stay empty, and
    those of ``empty``, are left out."""
    shown = {}
    for slot, kind in template.slots.items():
        void = slot in template.empty or slot in empty
        shown[slot] = (THING if kind == "shape" else "") if void else called[slot] if called else slot
    return set(variants(template.texts[number], shown))


def doubled(templates: Sequence[Template]) -> Iterator[Finding]:
    """Families of which it is proved that each question is one of another family as well: nodes and texts are its own,
    and its constraints no fewer. Of two that are equal the later is told."""
    told = set()
    for one, other in permutations(templates, 2):
        if _within(one, other) and (other.name, one.name) not in told:
            if _within(other, one):
                told.add((one.name, other.name))
                yield Finding(other.name, DOUBLE, f"it has the nodes and texts of {one.name}", None, one.name)
            else:
                yield Finding(one.name, DOUBLE, f"all its questions are of {other.name} too", None, other.name)


def _within(one: Template, other: Template) -> bool:
    """Whether a family's questions are all of another."""
    if [(node.kind, node.inputs) for node in one.nodes] != [(node.kind, node.inputs) for node in other.nodes]:
        return False
    if not set(other.different) <= set(one.different):
        return False
    pairs = zip(one.nodes, other.nodes, strict=True)
    called = {theirs: mine for a, b in pairs for mine, theirs in zip(a.slots, b.slots, strict=True)}
    if not {called[slot] for slot in other.empty} <= one.empty:
        return False
    void = {slot for slot, mine in called.items() if mine in one.empty}
    theirs = set().union(*(_said(other, number, void, called) for number in range(len(other.texts))))
    return all(_said(one, number) <= theirs for number in range(len(one.texts)))


@dataclass
class _Hunt:
    """What can be found of one family in scenes."""

    plan: Plan
    allowed: Sequence[Value]

    def answers(self, starts: Sequence[Start]) -> Iterator[Finding]:
        """That no question was found, or that all have one answer."""
        known: list[Value] = []
        degenerate = False
        for start in starts:
            while len(known) < 2:
                search = start(self.plan, {answer for answer in self.allowed if answer not in known})
                found = search.run()
                degenerate |= search.degenerate
                if found is None:
                    break
                known.append(found[1])
        name = self.plan.template.name
        if not known:
            why = "the answer is the same without a relation" if degenerate else "nothing fits"
            yield Finding(name, NEVER, f"no scene has a question of it: {why}", len(starts))
        elif len(known) == 1:
            yield Finding(name, ONE_ANSWER, f"only {in_words(known[0])} was found", len(starts))

    def questions(self, starts: Sequence[Start], words: Words) -> list[tuple[list[Row], str]]:
        """Programs and texts of a few questions."""
        found = []
        for start in starts:
            search = start(self.plan, set(self.allowed))
            if question := search.run():
                program, _, filled = question
                found.append((program, text(self.plan.template, filled, words, search.rng)))
            if len(found) == ASKED:
                break
        return found


def confused(
    templates: Sequence[Template], words: Words, asked: Mapping[str, list[tuple[list[Row], str]]], scenes: int
) -> Iterator[Finding]:
    """Families of which each question that was found has a program and a text that another family may have made too.

    ``asked``: by family the programs and texts of questions. Another family is left out where it has nodes that must
    differ and this one has not the same ones, since it might refuse some of the questions.
    """
    families = Families(templates, words)
    by_name = families.templates
    told = set()
    for name, questions in asked.items():
        fits = Counter(other for program, said in questions for other in families.of_program(program, said))
        for other, many in fits.items():
            free = set(by_name[other].different) <= set(by_name[name].different)
            if other != name and many == len(questions) and free and (other, name) not in told:
                told.add((name, other))
                yield Finding(name, DOUBLE, f"all {many} questions of it are of {other} too", scenes, other)


def sampled(words: Words, many: int, seed: int = 1) -> list[Scene]:
    """So many scenes of CLEVR's world whose objects have the words' attributes; InputError where it has not the words'
    relations. They are not drawn."""
    known = {"left", "right", "front", "behind"}
    if strange := set(words.values[RELATION]) - known:
        raise InputError(
            f"No scenes can be sampled that have the relation {min(strange)!r} ({', '.join(sorted(known))} are known): "
            "give scenes that have it."
        )
    solids, sizes = ("cube", "sphere", "cylinder"), (0.35, 0.7)
    settings = ClevrSettings(
        width=48,  # small: it is only looked whether each object can be seen
        height=32,
        min_pixels=2,
        shapes={word: solids[number % 3] for number, word in enumerate(words.values["shape"])},
        colors={word: (number % 256, 0, 0) for number, word in enumerate(words.values["color"])},
        materials={word: {} for word in words.values["material"]},
        sizes={word: sizes[number % 2] for number, word in enumerate(words.values["size"])},
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "scenes.json"
        scenes = (sample_scene(settings, seed, number) for number in range(many))
        record.write(path, record.info_of(settings.split, settings), scenes)
        return list(scenes_of(path).values())


def some_of(scenes: Mapping[str, Scene], most: int, seed: int = 1) -> list[Scene]:
    """So many of the scenes, or all where there are no more."""
    ranked = by_rank(seed, "linted", sorted(scenes))
    return [scenes[name] for name in ranked[:most]]
