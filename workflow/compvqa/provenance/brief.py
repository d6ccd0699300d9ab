"""An audit in words that fit on a screen or two: a line a stage, a source, a model, and a scene of an example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from os.path import commonpath

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from compvqa.provenance.telling import FOLDS, GUARD, dropped, head, heading, named, opening, origin, place, role

SOURCES_SHOWN = 7
MORE = "--all tells each step with its recipe and counts, each raw file with its sha256, and examples whole."


def text(told: dict) -> RenderableType:
    """The audit of a split (:func:`compvqa.provenance.audit.audit`) for a terminal."""
    return Group(
        *head(told),
        *_back(told),
        heading(GUARD),
        Text(", ".join(f"{key.removeprefix('leak guard: ')}: {n:,}" for key, n in told["guard"].items())),
        heading(FOLDS),
        *_folds(told["folds"]),
        heading("Examples"),
        *[line for example in told["examples"] for line in _story(example)],
        Text(MORE),
    )


def way(told: dict) -> RenderableType:
    """The way to any output (:func:`compvqa.provenance.audit.way`) for a terminal."""
    return Group(named(told), *_back(told), Text(MORE))


def _back(told: dict) -> list[RenderableType]:
    return [
        heading("From raw files to here"),
        _stages(told["steps"]),
        *_surroundings(told["steps"]),
        heading("Sources"),
        *_sources(told["raw"]),
    ]


def _stages(steps: Sequence[dict]) -> Table:
    """A line for each stage, with its runs of all recipes together."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name, side in {"stage": "left", "runs": "right", "in": "right", "out": "right", "dropped": "left"}.items():
        table.add_column(name, justify="right" if side == "right" else "left", no_wrap=True)
    table.add_column("read from", no_wrap=True, overflow="ellipsis")
    stage_of = {step["recipe"]: step["stage"] for step in steps}
    for stage in dict.fromkeys(stage_of.values()):
        mine = [step for step in steps if step["stage"] == stage]
        counts = sum((Counter(step["counts"]) for step in mine), Counter())
        flow = [f"{counts[key]:,}" if any(key in step["counts"] for step in mine) else "" for key in ("in", "out")]
        read = {stage_of[recipe]: None for step in mine for recipe in step["after"]}
        if given := {path for step in mine for path in step["given"]}:
            read[f"{len(given):,} given files"] = None
        runs = sum(len(step["records"]) for step in mine)
        table.add_row(stage, f"{runs:,}", *flow, _dropped(mine, counts), Text(", ".join(read)))
    return table


def _dropped(steps: Sequence[dict], counts: Counter[str]) -> str:
    """How much was dropped, and the reason with the most of it."""
    total = sum(map(dropped, steps))
    if not total:
        return ""
    reason, _ = max(((key, n) for key, n in counts.items() if "dropped" in key), key=lambda pair: pair[1])
    reason = reason.partition("dropped: ")[2] or reason
    return f"{total:,} ({reason if len(reason) <= 40 else reason[:39] + '…'})"


def _surroundings(steps: Sequence[dict]) -> list[RenderableType]:
    """A line for each stage that learned something outside of its files, such as what server it loaded."""
    said = [(step["stage"], ", ".join(f"{key} {value}" for key, value in step["facts"].items())) for step in steps]
    return [Text(f"{stage}: {facts}") for stage, facts in dict.fromkeys(said) if facts]


def _sources(raw: Sequence[dict]) -> list[RenderableType]:
    """A line for the files of each origin."""
    by_origin: dict[str, list[dict]] = {}
    for row in raw:
        by_origin.setdefault(origin(row), []).append(row)
    lines = []
    for where, rows in by_origin.items():
        paths = sorted({row["file"] for row in rows})  # several steps may have read one
        one = f"{paths[0]}  {where}  sha256 {rows[0]['sha256']}"
        lines.append(one if len(paths) == 1 else f"{commonpath(paths) or '.'}: {len(paths):,} files  {where}")
    hidden = len(lines) - SOURCES_SHOWN
    return [*map(Text, lines[:SOURCES_SHOWN]), *([Text(f"… and {hidden:,} more")] if hidden > 0 else [])]


def _folds(rows: Sequence[dict]) -> list[RenderableType]:
    """A line for each model: over all tables that it scored, whether it had seen any image of them."""
    if not rows:
        return [Text("no image filter had a part in this split")]
    lines: list[RenderableType] = []
    for model in dict.fromkeys(row["model"] for row in rows):
        mine = [row for row in rows if row["model"] == model]
        checked = [row for row in mine if not row["missing"]]
        seen = sum(row["both"] for row in checked)
        told = f"{model} scored {sum(row['pairs'] for row in checked):,} pairs in {len(checked):,} tables"
        told += f", was trained on {checked[0]['saw']:,} images: " if checked else ": "
        told += f"{seen:,} SEEN" if seen else "none seen" if checked else "not checked"
        if gone := len(mine) - len(checked):
            told += f"; {gone:,} tables not checked, since files are gone"
        lines.append(_line(told))
    return lines


def _story(told: dict) -> Iterable[RenderableType]:
    """One question in a few lines: itself, its scenes, and what its program gives now."""
    row = told["question"]
    yield Text(row["text"], style="bold")
    yield _line(opening(told))
    for scene in told["scenes"]:
        p = [seen["p"] for seen in scene["presence"]]
        opinions = f"; {len(p)} opinions of filters, p {min(p):.3f} to {max(p):.3f}" if p else ""
        yield _line(f"  {scene['scene_id']}: {place(scene)}; {role(scene)}{opinions}")
    if told["trace"]:
        yield Text(f"  run again now, the program ({len(told['trace'])} rows) gives {told['again']}")


def _line(words: str) -> Text:
    return Text(words, no_wrap=True, overflow="ellipsis")
