"""The questions that the examples of pretraining amount to, each with how many examples there are of it.

With one image, how many instances a subgraph has in it; with several, in how many of them it is: both are what COUNT
asks. Where no number is told, there may be any; which of several images have it is asked of each by itself. A masked
name is what QUERYOBJECT and QUERYATTR ask for.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

import pyarrow as pa

from compvqa.covr.pretraining.examples import Match
from compvqa.covr.questions.references import rows
from compvqa.covr.subgraphs.subgraph import Subgraph, parse
from compvqa.programs.rows import Row, to_json
from compvqa.questions.asked import asked_schema
from compvqa.training.data import MASK

# The columns that properties look at: spelt here, so that a property's code is no code of the pretraining
FIELDS = pa.schema(
    [
        ("template", pa.string()),
        ("answer", pa.string()),
        ("program", pa.string()),
        ("tree", pa.string()),
        ("properties", pa.list_(pa.string())),  # null: no released file says any
    ]
)
ASKED = asked_schema("covr", FIELDS)
COUNT = "COUNT"


def asked(matches: Iterable[Match]) -> Iterator[dict]:
    """The rows of :data:`ASKED` for examples."""
    found: Counter[tuple[str, str, bool, bool]] = Counter()
    for match in matches:
        found[match.tree, _answer(match), match.counted, len(match.images) > 1] += 1
        found.update((match.tree, _truth(has), False, False) for has in match.present)
    for (tree, answer, counted, several), n in found.items():
        template, program, whole = _asks(tree, answer, counted, several)
        row = {"template": template, "answer": answer, "program": program, "tree": whole, "properties": None}
        yield row | {"n": n}


def _answer(match: Match) -> str:
    return str(match.label) if match.counted or isinstance(match.label, str) else _truth(match.label)


def _truth(value: object) -> str:
    return "true" if value else "false"


@cache
def _asks(tree: str, answer: str, counted: bool, several: bool) -> tuple[str, str, str]:
    """Template (empty: none asks this), program and subgraph of the question that an example amounts to."""
    if json.dumps(MASK) in tree:
        whole = tree.replace(json.dumps(MASK), json.dumps(answer, ensure_ascii=False))
        return "", _program(parse(whole), _query(parse(tree))), whole
    then = [Row("UniqueImages")] * several + [Row("Count" if counted else "Exists")]
    return COUNT if counted else "", _program(parse(tree), then), tree


def _query(masked: Subgraph) -> list[Row]:
    """The rows that ask for what is masked; for a relation, which none asks for, that there is one."""
    objects = [node for _, node in masked.objects()]
    if any(node.name == MASK for node in objects):
        return [Row("Unique"), Row("QueryName")]
    if any(node.attribute == MASK for node in objects):
        return [Row("Unique"), Row("QueryAttribute", ("any",))]
    return [Row("Exists")]


def _program(subgraph: Subgraph, then: Iterable[Row]) -> str:
    """The program that finds ``subgraph`` and does these rows, each with what the one before gives."""
    found = rows(subgraph)
    for row in then:
        found.append(Row(row.operation, row.arguments, (len(found) - 1,)))
    return to_json(found)
