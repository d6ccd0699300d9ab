"""The costs of the stages from raw files to related images, on simulated scenes of several sizes.

    python benchmarks/graph.py FOLDER --ontology resources/gqa_ontology --scenes 1000 10000

FOLDER keeps the simulated files (made once for a size) and all tables. Half of the scenes are GQA's and half
imSitu's, as 85 to 100; with --dense all are GQA's, with 2.1 relations an object.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from measure import Cost, exponent, print_table, stage

GQA_SHARE = 85 / 185
STAGES = ("ingest", "scenes", "subgraphs", "overlap", "candidates", "presence", "related")
TARGETS = {  # at 185,000 scenes
    "ingest": "20 CPU-s, 1 GB",
    "subgraphs": "with distance 1: 60 CPU-s, 2 GB",
    "candidates": "distance 2 adds 120 CPU-s, 4 GB",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where simulated files and tables are kept")
    parser.add_argument("--ontology", type=Path, required=True, help="folder of GQA's ontology files")
    parser.add_argument("--scenes", type=int, nargs="+", default=[1_000, 10_000], help="sizes, in scenes")
    parser.add_argument("--shards", type=int, default=2, help="shards of the graph stages, one after the other")
    parser.add_argument("--until", choices=STAGES, default=STAGES[-1], help="the last stage to run")
    parser.add_argument("--candidates", default="{}", help="settings of the stage candidates (JSON)")
    parser.add_argument("--dense", action="store_true", help="GQA scenes alone, with 2.1 relations an object")
    options = parser.parse_args()
    costs: dict[int, dict[str, Cost]] = {}
    for size in sorted(options.scenes):
        chain = Chain(options.folder / (f"dense-{size}" if options.dense else str(size)), size, options)
        costs[size] = {name: chain.cost(name) for name in STAGES[: STAGES.index(options.until) + 1]}
    report(costs)


class Chain:
    """The stages on simulated scenes of one size, each with its files in a folder."""

    def __init__(self, folder: Path, size: int, options: argparse.Namespace):
        self.folder, self.raw, self.log = folder, folder / "raw", folder / "log.txt"
        self.shards = [f"{number}-of-{options.shards}" for number in range(1, options.shards + 1)]
        self.candidate_settings = options.candidates
        folder.mkdir(parents=True, exist_ok=True)
        gqa = size if options.dense else round(size * GQA_SHARE)
        if not (self.raw / "simulate.prov.json").exists():
            profile = ["--dense"] if options.dense else []
            numbers = ["--gqa", gqa, "--imsitu", size - gqa]
            stage(["simulate", self.raw, "--ontology", options.ontology, *numbers, *profile], [], self.log)
        self.lexicon = folder / "lexicon.json"
        stage(["lexicon", self.lexicon, "--gqa", options.ontology], [], self.log)
        self.sources = {"gqa": {part: f"{part}_sceneGraphs.json" for part in ("train", "val")}}
        if gqa < size:
            names = {"train": "train", "val": "dev", "space": "imsitu_space"}
            parts = {part: f"imsitu/{name}.json" for part, name in names.items()}
            self.sources["imsitu"] = parts | {"templates": "imsitu/generation_templates.tab"}

    def cost(self, name: str) -> Cost:
        """Run a stage anew, all its parts one after the other."""
        total = Cost(0, 0, 0)
        for arguments, outputs in getattr(self, name)():
            for path in outputs:
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            total += stage([name, *arguments], outputs, self.log)
        return total

    def ingest(self) -> Iterator[tuple[list, list[Path]]]:
        for name, parts in self.sources.items():
            files = {part: str(self.raw / file) for part, file in parts.items()}
            config = json.dumps({"name": name, "reader": name, "files": files})
            out = self.folder / "sources" / name
            yield [out, "--lexicon", self.lexicon, "--config", config], [out]

    def scenes(self) -> Iterator[tuple[list, list[Path]]]:
        sources = [part for name in self.sources for part in ("--source", self.folder / "sources" / name)]
        yield [self.folder / "scenes", *sources], [self.folder / "scenes"]

    def subgraphs(self) -> Iterator[tuple[list, list[Path]]]:
        for shard in self.shards:
            outputs = self._files("subgraphs", "occurrences", shard=shard)
            yield [*self._scenes, "--shard", shard, *_options(outputs)], list(outputs.values())

    def overlap(self) -> Iterator[tuple[list, list[Path]]]:
        yield [self._overlap, *self._scenes, "--lexicon", self.lexicon], [self._overlap]

    def candidates(self) -> Iterator[tuple[list, list[Path]]]:
        given = [
            *self._scenes,
            "--graphs",
            self.folder,
            "--overlap",
            self._overlap,
            "--config",
            self.candidate_settings,
        ]
        for shard in self.shards:
            outputs = self._files("seeds", "candidates", shard=shard)
            yield [*given, "--shard", shard, *_options(outputs)], list(outputs.values())

    def presence(self) -> Iterator[tuple[list, list[Path]]]:
        for shard in self.shards:
            [out] = self._files("presence", shard=shard).values()
            yield [out, *_options(self._files("seeds", "candidates", shard=shard))], [out]

    def related(self) -> Iterator[tuple[list, list[Path]]]:
        for shard in self.shards:
            outputs = self._files("related", shard=shard)
            inputs = self._files("seeds", "candidates", "presence", shard=shard)
            yield _options(inputs | outputs), list(outputs.values())

    @property
    def _scenes(self) -> list:
        return ["--scenes", self.folder / "scenes"]

    @property
    def _overlap(self) -> Path:
        return self.folder / "overlap.parquet"

    def _files(self, *tables: str, shard: str) -> dict[str, Path]:
        return {table: self.folder / table / f"{shard}.parquet" for table in tables}


def _options(files: dict[str, Path]) -> list:
    return [part for name, path in files.items() for part in (f"--{name}", path)]


def report(costs: dict[int, dict[str, Cost]]) -> None:
    """Print stage by size: CPU seconds, peak memory and bytes; how they grow; and what is aimed at."""
    sizes = list(costs)
    header = ["stage"]
    for size in sizes:
        header += [f"{size:,} scenes: CPU s", "peak MB", "written MB"]
    header += [f"growth {one:,} to {other:,}" for one, other in zip(sizes, sizes[1:], strict=False)]
    rows = []
    for name in costs[sizes[0]]:
        row = [name]
        for size in sizes:
            cost = costs[size][name]
            row += [f"{cost.cpu:.1f}", f"{cost.memory:.0f}", f"{cost.written / 1e6:.1f}"]
        for one, other in zip(sizes, sizes[1:], strict=False):
            row.append(f"{exponent((one, costs[one][name].cpu), (other, costs[other][name].cpu)):.2f}")
        rows.append([*row, TARGETS.get(name, "")])
    print_table([*header, "target at 185,000"], rows)


if __name__ == "__main__":
    main()
