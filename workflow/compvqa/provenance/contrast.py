"""What differs between two runs, by their records or in what they say, in words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from compvqa.provenance.contents import EQUAL, VERDICTS, Compared
from compvqa.provenance.differences import same

HEADINGS = {
    "stages": "Stages that only one of them has",
    "config": "Config",
    "code": "Code",
    "inputs": "Given files (sha256)",
    "versions": "Versions",
    "counts": "Counts",
}
MOST = 40  # lines of a part


def text(told: dict) -> RenderableType:
    """The result of :func:`compvqa.provenance.differences.differences` for a terminal."""
    outputs, questions = told["outputs"], told["questions"]
    lines: list[RenderableType] = []
    for key, heading in HEADINGS.items():
        if told[key]:
            lines += [Text(f"{heading}: {len(told[key]):,}", style="bold"), _table(told[key])]
    lines.append(Text("Files", style="bold"))
    sizes = ", ".join(f"{name} {len(outputs[name]):,}" for name in ("differ", "only A", "only B"))
    lines.append(Text(f"  equal {outputs['equal']:,}, {sizes}" + _first(outputs["differ"])))
    if questions:
        lines.append(Text("Questions", style="bold"))
        for name, found in questions.items():
            lines.append(Text(f"  {name}: {found['n']:,}"))
            lines += [Text(f"    {row['question_id']}: {row['text']}") for row in found["first"]]
    if same(told):
        lines.append(Text("Nothing differs but what is listed above, if anything.", style="bold"))
    return Group(*lines)


def contents(found: Sequence[Compared], every: bool = False) -> RenderableType:
    """The result of :func:`compvqa.provenance.contents.compare` for a terminal: a row a kind of file, with how many of
    each verdict, and below it what is not equal."""
    by_kind: dict[str, Counter[str]] = {}
    for one in found:
        by_kind.setdefault(one.kind, Counter())[one.verdict] += 1
    table = Table("", "files", *VERDICTS, box=None, padding=(0, 2, 0, 0))
    for kind, counts in by_kind.items():
        table.add_row(Text(kind), *(f"{n:,}" if n else "" for n in (counts.total(), *(counts[v] for v in VERDICTS))))
    apart = [one for one in found if one.verdict != EQUAL]
    lines = [Text(f"{one.path}: {one.verdict}{': ' * bool(one.told)}{one.told}") for one in apart]
    if not every and len(lines) > MOST:
        lines[MOST:] = [Text(f"… and {len(lines) - MOST:,} more (--all tells them)")]
    return Group(table, *lines)


def _table(rows: list[dict]) -> Table:
    table = Table(*rows[0], box=None, padding=(0, 2, 0, 2), show_header=True)
    for row in rows[:MOST]:
        table.add_row(*(Text(_short(value)) for value in row.values()))
    if len(rows) > MOST:
        table.add_row(Text(f"… and {len(rows) - MOST:,} more (all are in the JSON)"))
    return table


def _short(value: object) -> str:
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return told if len(told) <= 60 else told[:57] + "…"


def _first(paths: list[str]) -> str:
    return f" (the first: {', '.join(paths[:3])})" if paths else ""
