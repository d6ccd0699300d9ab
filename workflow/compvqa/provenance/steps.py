"""The way to a file in steps: records that share stage and recipe (shards, folds) are one step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

from compvqa.provenance.history import History, Record

SHARE = "per mille"  # what a count's name ends with where it is no number of things


@dataclass
class Step:
    """A stage with one recipe: its records, the steps that it read from, and the files that were given to it."""

    stage: str
    recipe: str
    records: list[Record] = field(default_factory=list)
    after: list[Step] = field(default_factory=list)  # by stage and recipe
    given: dict[str, str] = field(default_factory=dict)  # path to sha256

    @property
    def counts(self) -> dict[str, int]:
        """What its records counted: numbers summed, shares averaged."""
        total: Counter[str] = Counter()
        for record in self.records:
            total.update(record.data["counts"])
        return {key: round(n / len(self.records)) if key.endswith(SHARE) else n for key, n in total.items()}

    @property
    def outputs(self) -> dict[str, str]:
        return {path: digest for record in self.records for path, digest in record.outputs.items()}

    def data(self) -> dict:
        """The step as JSON has it."""
        first = self.records[0].data
        return {
            "stage": self.stage,
            "recipe": self.recipe,
            "code": first["code"],
            "seed": first["seed"],
            "settings": first["settings"],
            "records": [record.path for record in self.records],
            "counts": self.counts,
            "facts": first.get("facts", {}),
            "after": [step.recipe for step in self.after],
            "given": self.given,
            "outputs": self.outputs,
            "versions": first["versions"],
            "host": first.get("host"),
            "jobs": sorted({str(record.data["job"]) for record in self.records if record.data.get("job")}),
            "started": min(record.data.get("started", "") for record in self.records),
            "ended": max(record.data.get("ended", "") for record in self.records),
        }


def steps(history: History, records: Sequence[Record]) -> list[Step]:
    """The steps of the records, each after those that it read from, and among equals by stage and recipe."""
    found: dict[tuple[str, str], Step] = {}
    for record in records:
        found.setdefault((record.stage, record.recipe), Step(record.stage, record.recipe)).records.append(record)
    before: dict[tuple[str, str], set] = {key: set() for key in found}
    for key, step in found.items():
        for record in step.records:
            for path, digest in record.inputs.items():
                maker = history.maker(path)
                if maker is None:
                    step.given[path] = digest
                elif (maker.stage, maker.recipe) in found:
                    before[key].add((maker.stage, maker.recipe))
        before[key].discard(key)
        step.after = [found[other] for other in sorted(before[key])]
    sorter = TopologicalSorter({key: sorted(before[key]) for key in sorted(found)})
    return [found[key] for key in sorter.static_order()]
