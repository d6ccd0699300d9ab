"""What differs between two runs, in words."""

from __future__ import annotations

import json

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

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
