"""Questions of the dataset that are shown as examples: readable ones, the same on every run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import nsmallest
from pathlib import Path

import duckdb

from compvqa.covr.questions import templates
from compvqa.covr.questions.references import changes, in_distractor
from compvqa.covr.questions.templates import Template
from compvqa.covr.subgraphs.subgraph import Subgraph
from compvqa.paper.data import Inputs, frame, many, one, templates_in_order
from compvqa.seeds import stable_hash

LONG = 13  # words: a text of more is shown only where there is no shorter one
TRIED = 200  # examples looked at for one that has what is wanted
_SLOT = r"\{(?:[^{}]|\{[^{}]*\})*\}"
_SLOTS = re.compile(rf"{_SLOT}(?:\s*{_SLOT})*")


def of_templates(
    inputs: Inputs, columns: Sequence[str], order: Iterable[str]
) -> Iterator[tuple[str, Template | None, dict | None]]:
    """Each template with an example question, None where the dataset has none: those in ``order`` come first.

    The example is a row of the dataset with ``columns``. One whose slots can be told apart is preferred.
    """
    known = {template.name: template for template in templates.load(*many(inputs, "templates"))}
    asked = dict(list(frame(one(inputs, "dataset"), ["question_id", "template", "text"]).groupby("template")))
    shown = {}
    for name, questions in asked.items():
        best = readable(questions.to_dict("records"), name)
        clear = (q for q in best if name in known and slots(known[name], q["text"]))
        shown[name] = next(clear, best[0])["question_id"]
    rows = by_id(one(inputs, "dataset"), columns, shown.values())
    for name in templates_in_order([*known, *asked], list(order)):
        yield name, known.get(name), rows.get(shown.get(name, ""))


def readable(questions: Iterable[dict], what: str) -> list[dict]:
    """The questions (with ``text`` and ``question_id``) that are best shown as an example of ``what``, the best first.

    Those that are not long come before others, in a stable random order.
    """
    return nsmallest(TRIED, questions, key=lambda q: rank(q["text"], q["question_id"], what))


def rank(text: str, question_id: str, what: str) -> tuple[int, int]:
    """The place of a question among the examples of ``what``: the lowest is shown."""
    return max(len(text.split()) - LONG, 0), stable_hash("example", what, question_id)


def by_id(dataset: Path, columns: Sequence[str], question_ids: Iterable[str]) -> dict[str, dict]:
    """Rows of the dataset by question id."""
    names = ", ".join(f'"{name}"' for name in columns)
    sql = f"select question_id, {names} from read_parquet(?) where question_id in (select unnest(?))"
    with duckdb.connect() as connection:
        rows = connection.sql(sql, params=[str(dataset), list(question_ids)]).to_arrow_table().to_pylist()
    return {row["question_id"]: row for row in rows}


def slots(template: Template, text: str) -> tuple[tuple[int, int], ...]:
    """Where a template's slots stand in a question's text (start, end); neighbouring slots are one.

    Empty where that can't be told: "a cat and a dog and a bird" has two places to part "{a} and {b}".
    """
    for variant in sorted(template.variants.values(), key=lambda variant: -len(_SLOTS.sub("", variant.text))):
        greedy, lazy = (pattern.fullmatch(text) for pattern in _patterns(variant.text))
        if greedy and lazy:
            found = [[match.span(n + 1) for n in range(match.re.groups)] for match in (greedy, lazy)]
            return tuple(found[0]) if found[0] == found[1] else ()
    return ()


@cache
def _patterns(text: str) -> tuple[re.Pattern, re.Pattern]:
    """A template's text as two patterns with a group for its slots: as long as can be, as short as can be."""
    literals = [re.escape(part) for part in _SLOTS.split(text)]
    longest, shortest = (re.compile(group.join(literals), re.IGNORECASE) for group in ("(.+)", "(.+?)"))
    return longest, shortest


def slots_of(text: str) -> tuple[tuple[int, int], ...]:
    """Where the slots stand in a template's own text (start, end)."""
    return tuple(match.span() for match in re.finditer(_SLOT, text))


@dataclass(frozen=True)
class Related:
    """A scene that was found for a subgraph: it contains it (``pos``, ``mult``), or the key says what differs."""

    scene_id: str
    key: str
    nodes: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def contains(self) -> bool:
        return self.key in ("pos", "mult")

    def subgraph(self, g: Subgraph) -> Subgraph:
        """``g`` as the scene holds it."""
        return in_distractor(g, self.key, self.nodes, self.names)


def related(inputs: Inputs, seeds: Iterable[int]) -> dict[int, dict[str, Related]]:
    """The scenes that were found for each seed, by scene; of several reasons for one, the first by key."""
    paths = [str(path) for path in many(inputs, "related")]
    found: dict[int, dict[str, Related]] = {seed: {} for seed in seeds}
    if paths:
        sql = """select seed, scene_id, key, nodes, names from read_parquet(?)
            where seed in (select unnest(?)) order by seed, key, rank, scene_id"""
        with duckdb.connect() as connection:
            for seed, scene_id, key, nodes, names in connection.execute(sql, [paths, list(found)]).fetchall():
                found[seed].setdefault(scene_id, Related(scene_id, key, tuple(nodes), tuple(names)))
    return found


def differences(g: Subgraph, scene: Related) -> list[str]:
    """What a distractor has in place of ``g``'s names: "hat → dress"."""
    names = node_names(g)
    return [f"{names[place]} → {name}" for place, name in changes(scene.key, scene.nodes, scene.names).items()]


def node_names(g: Subgraph, root: int = 0) -> Mapping[tuple[int, bool], str | None]:
    """The names in a subgraph: of node n by (n, False), of object n's attribute by (n, True)."""
    names = {(root, False): g.name, (root, True): g.attribute}
    for number, edge in g.numbered_edges():
        names[root + number, False] = edge.name
        names |= node_names(edge.target, root + number + 1)
        after = root + number + 1 + edge.target.size
        for place, modifier in enumerate(edge.modifiers):
            names |= {(after + 2 * place, False): modifier.name, (after + 2 * place + 1, False): modifier.noun}
    return names
