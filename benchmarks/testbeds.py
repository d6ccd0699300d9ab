"""The size and make-up of test-beds side by side, beside COVR's own numbers (Table 3, sections 3.3 and 3.4).

    python benchmarks/testbeds.py results/covr-sprites results/covr-real-subset

Reads evaluation/statistics.parquet of each folder. Shares are of the questions of the same part.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from measure import ROOT, print_table

sys.path.insert(0, str(ROOT / "workflow"))

from compvqa import tables  # noqa: E402  (found by the line above)
from compvqa.covr.statistics import STATISTICS
from compvqa.paper.reference import Reference, load  # noqa: E402

PARTS = {"Train": "train", "Dev.+Test": "dev+test"}
KINDS = {"true_false": "true / false", "x_or_y": "X or Y", "how_many": "how many", "open": "open"}
Values = dict[tuple[str, str], float]  # (statistic, part) -> its value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+", help="results/<testbed>")
    folders = parser.parse_args().results
    found = [papers(load(ROOT / "config/paper/covr/table3.yaml")), *map(ours, folders)]
    print_table(["", "COVR", *(folder.name for folder in folders)], [*lines(found)])


def papers(reference: Reference) -> Values:
    """The paper's numbers."""
    values = {
        (stat, part): reference.value(label, column)
        for label, stat in reference.options["stats"].items()
        for column, part in PARTS.items()
    }
    values["unique_anonymized_programs", "all"] = reference.facts["programs"].value
    values["two_answers", "train"] = reference.facts["two_answers"].value / 100
    return values


def ours(folder: Path) -> Values:
    """The numbers of a results folder."""
    rows = tables.read(folder / "evaluation/statistics.parquet", STATISTICS).to_pylist()
    return {(row["stat"], row["part"]): row["value"] for row in rows if not row["item"]}


def lines(found: list[Values]):
    """A line a number, with a value of each of ``found``; what the paper does not say is a dash."""

    def line(what: str, value, form: str) -> list[str]:
        values = [value(of) for of in found]
        return [what, *("–" if number is None else format(number, form) for number in values)]

    for part in PARTS.values():
        yield line(f"questions, {part}", lambda of, part=part: of["questions", part], ",.0f")
    for part in (*PARTS.values(), "all"):
        key = ("unique_anonymized_programs", part)
        yield line(f"anonymized programs, {part}", lambda of, key=key: of.get(key), ",.0f")
    yield line("two answers, train", lambda of: of["two_answers", "train"], ".1%")
    for part in PARTS.values():
        for kind, name in KINDS.items():
            yield line(f"{name}, {part}", lambda of, k=kind, p=part: share(of, k, p), ".1%")
    for part in PARTS.values():
        for stat in ("words", "images"):
            yield line(f"{stat} a question, {part}", lambda of, s=stat, p=part: of[s, p], ".1f")


def share(of: Values, kind: str, part: str) -> float | None:
    return of[kind, part] / of["questions", part] if of["questions", part] else None


if __name__ == "__main__":
    main()
