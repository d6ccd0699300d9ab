"""How many records of a source came in and what became of them, and how much may be malformed before a run stops."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from compvqa.scenes.raw import KINDS, Report
from compvqa.scenes.tables import TABLES


def too_many(source: str, report: Report, kept: Mapping[str, int], most: float, rejects: Path) -> str:
    """Why a run must stop: more than the share ``most`` of a source's scenes, objects, … was rejected, or no scene came
    in at all; empty if neither.

    What a rule dropped does not count. ``kept`` are the rows of each table, ``rejects`` is where all rejects are.
    """
    for kind in KINDS:
        reasons = report.reasons[kind]
        rejected = reasons.total()
        came = kept.get(f"{kind}s", report.counts[f"{kind}s in"] - rejected)
        total = rejected + max(came, 0)
        if rejected > most * total:
            reason, _ = min(reasons.items(), key=lambda item: (-item[1], item[0]))
            return (
                f"Source {source}: {rejected:,} of {total:,} {kind}s were rejected ({rejected / total:.1%}), mostly "
                f'because of "{reason}" (first: {report.examples[kind, reason]}), and {rejects} lists all rejects: '
                f"correct the file, or raise the source's most_rejected ({most:g})."
            )
    if not kept["scenes"] and not report.reasons["scene"]:
        return f"Source {source}: no scene came of its files: give files that hold some."
    return ""


def accounted(report: Report, rows: Mapping[str, int]) -> dict[str, int]:
    """The report's counts, and of each kind of records with a table how many came in: those that are ``rows`` of it,
    that were rejected, and that a rule dropped. Of a scene that is rejected the scene alone counts."""
    counts = dict(sorted(report.counts.items()))
    for name in (schema.name for schema in TABLES):
        rejected = report.reasons[name.removesuffix("s")].total()
        dropped = sum(number for what, number in report.counts.items() if what.startswith(f"{name} dropped: "))
        counts |= {f"{name} in": rows[name] + rejected + dropped, f"{name} rejected": rejected}
        counts[f"{name} out"] = rows[name]
    return counts | {"rejects": rows["rejects"]}
