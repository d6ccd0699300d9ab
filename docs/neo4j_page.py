"""Ask the queries of docs/neo4j.md of a loaded test-bed, and write their answers and the picture into that page.

    python docs/neo4j_page.py --dataset ID --images sprites=resources/sprites/images

The server is that of NEO4J_URI. Other parameters stay as the page has them.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compvqa.covr.subgraphs.search.neo4j.bolt import Server, connect

PAGE = Path(__file__).with_name("neo4j.md")
PICTURE = PAGE.with_name("neo4j-question.png")
_PARAMETER = re.compile(r"^:param (\w+) => '([^']*)'$", re.MULTILINE)
_QUERY = re.compile(r"^### (?P<title>.+?)\n.*?^```cypher\n(?P<cypher>.*?)^```\n", re.MULTILINE | re.DOTALL)
_ANSWER = re.compile(r"\n(?:(?:\|.*\n)+|No rows\.\n)")
_GRAPH = "MATCH (d:Dataset {dataset: $dataset}) RETURN d.graph AS graph"


@dataclass(frozen=True)
class Query:
    """A query of the page, under its title; ``end``: where in the page its answer begins."""

    title: str
    cypher: str
    end: int


def parameters(page: str) -> dict[str, str]:
    """The parameters that the page gives, the last where it gives one twice."""
    return dict(_PARAMETER.findall(page))


def queries(page: str) -> list[Query]:
    """The queries of the page in their order."""
    return [Query(found["title"], found["cypher"], found.end()) for found in _QUERY.finditer(page)]


def answered(page: str, server: Server, given: dict[str, str]) -> str:
    """The page with the server's answers; a query for paths, which is answered by the picture, is left as it is."""
    for query in reversed(queries(page)):
        rows = server.read(query.cypher, **given)
        if any(isinstance(value, list) and any(isinstance(v, dict) for v in value) for value in _values(rows)):
            continue
        before, after = page[: query.end], page[query.end :]
        old = _ANSWER.match(after)
        page = f"{before}\n{_table(rows)}{after[old.end() if old else 0 :]}"
    for name, value in given.items():
        page = re.sub(
            rf"^(:param {name} => )'[0-9a-z].*'$", lambda m, v=value: f"{m[1]}'{v}'", page, flags=re.MULTILINE
        )
    return page


def _values(rows: list[dict]) -> Iterator[object]:
    return (value for row in rows for value in row.values())


def _table(rows: list[dict]) -> str:
    if not rows:
        return "No rows.\n"
    lines = [list(rows[0]), ["---"] * len(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    text = f"{value:.3f}" if isinstance(value, float) else "" if value is None else str(value)
    return " ".join(text.replace("|", "\\|").split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True, help="what load-neo4j prints last")
    parser.add_argument("--images", action="append", default=[], metavar="SPACE=FOLDER", help="for the picture; repeat")
    options = parser.parse_args()
    from neo4j_picture import draw

    page = PAGE.read_text(encoding="utf-8")
    with connect(30) as server:
        found = server.read(_GRAPH, dataset=options.dataset)
        if not found:
            sys.exit(f"the server has no dataset {options.dataset}: take the id that load-neo4j prints.")
        given = parameters(page) | found[0] | {"dataset": options.dataset}
        PAGE.write_text(answered(page, server, given), encoding="utf-8")
        folders = {space: Path(folder) for space, _, folder in (item.partition("=") for item in options.images)}
        draw(server, given["dataset"], given["question"], folders, PICTURE)


if __name__ == "__main__":
    main()
