"""The costs of the stages from raw files to related images, and to examples for the image filter, on simulated scenes
of several sizes.

    python benchmarks/graph.py FOLDER --ontology resources/gqa_ontology --scenes 1000 10000

FOLDER keeps the simulated files (made once for a size) and all tables. Half of the scenes are GQA's and half
imSitu's, as 85 to 100; with --dense all are GQA's, with 2.1 relations an object.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from measure import NOTHING, Cost, exponent, options_of, print_table, stage

from compvqa.covr.subgraphs.search import CandidateSettings

GQA_SHARE = 85 / 185
STAGES = ("ingest", "scenes", "subgraphs", "overlap", "candidates", "presence", "related", "image_examples")
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
    parser.add_argument("--examples", default="{}", help="settings of the image filter's examples (JSON)")
    parser.add_argument("--dense", action="store_true", help="GQA scenes alone, with 2.1 relations an object")
    options = parser.parse_args()
    bounds = CandidateSettings(**json.loads(options.candidates))
    print(f"candidates: at most {bounds.memory_limit} in DuckDB, and {bounds.max_disk} of scratch beside the output")
    costs: dict[int, dict[str, Cost]] = {}
    for size in sorted(options.scenes):
        shards = [f"{number}-of-{options.shards}" for number in range(1, options.shards + 1)]
        chain = simulated(size, options.folder, options.ontology, options.dense)
        chain = replace(chain, shards=shards, candidate_settings=options.candidates, example_settings=options.examples)
        chain.cost("lexicon")
        costs[size] = {name: chain.cost(name) for name in STAGES[: STAGES.index(options.until) + 1]}
    report(costs)


def simulated(size: int, folder: Path, ontology: Path, dense: bool = False) -> Chain:
    """The stages on so many simulated scenes, in a folder of their own in ``folder``."""
    folder = folder / (f"dense-{size}" if dense else str(size))
    folder.mkdir(parents=True, exist_ok=True)
    raw, gqa = folder / "raw", size if dense else round(size * GQA_SHARE)
    if not (raw / "simulate.prov.json").exists():
        profile = ["--dense"] if dense else []
        numbers = ["--gqa", gqa, "--imsitu", size - gqa]
        stage(["simulate", raw, "--ontology", ontology, *numbers, *profile], [], folder / "log.txt")
    files = {"gqa": {part: f"{part}_sceneGraphs.json" for part in ("train", "val")}}
    if gqa < size:
        names = {"train": "train", "val": "dev", "space": "imsitu_space"}
        parts = {part: f"imsitu/{name}.json" for part, name in names.items()}
        files["imsitu"] = parts | {"templates": "imsitu/generation_templates.tab"}
    sources = [
        {"name": name, "reader": name, "files": {part: str(raw / path) for part, path in parts.items()}}
        for name, parts in files.items()
    ]
    return Chain(folder, sources, ontology)


@dataclass(frozen=True)
class Chain:
    """The stages on sources (each as in a config), all with their files in ``folder``."""

    folder: Path
    sources: Sequence[dict]
    ontology: Path
    shards: Sequence[str] = ("1-of-1",)
    candidate_settings: str = "{}"
    example_settings: str = "{}"

    def cost(self, name: str) -> Cost:
        """Run a stage anew, all its parts one after the other."""
        total = NOTHING
        for arguments, outputs in getattr(self, name)():
            for path in outputs:
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            total += stage([name.replace("_", "-"), *arguments], outputs, self.folder / "log.txt")
        return total

    def file(self, table: str) -> Path:
        """The table of the first shard."""
        return self._files(table, shard=self.shards[0])[table]

    def lexicon(self) -> Iterator[tuple[list, list[Path]]]:
        yield [self._lexicon, "--gqa", self.ontology], [self._lexicon]

    def ingest(self) -> Iterator[tuple[list, list[Path]]]:
        for source, out in zip(self.sources, self._ingested, strict=True):
            yield [out, "--lexicon", self._lexicon, "--config", json.dumps(source)], [out]

    def scenes(self) -> Iterator[tuple[list, list[Path]]]:
        sources = [part for path in self._ingested for part in ("--source", path)]
        yield [self.folder / "scenes", *sources], [self.folder / "scenes"]

    def subgraphs(self) -> Iterator[tuple[list, list[Path]]]:
        for shard in self.shards:
            outputs = self._files("subgraphs", "occurrences", shard=shard)
            given = [*self._scenes, "--shard", shard, "--config", '{"texts": false}']  # as config/covr.yaml
            yield [*given, *options_of(outputs)], list(outputs.values())

    def overlap(self) -> Iterator[tuple[list, list[Path]]]:
        yield [self._overlap, *self._scenes, "--lexicon", self._lexicon], [self._overlap]

    def candidates(self) -> Iterator[tuple[list, list[Path]]]:
        folders = {name: self.folder / name for name in ("seeds", "candidates")}
        given = ["--graphs", self.folder, "--overlap", self._overlap, "--config", self.candidate_settings]
        outputs = [path for shard in self.shards for path in self._files(*folders, shard=shard).values()]
        yield [*self._scenes, *given, "--shards", len(self.shards), *options_of(folders)], outputs

    def presence(self) -> Iterator[tuple[list, list[Path]]]:
        for shard in self.shards:
            [out] = self._files("presence", shard=shard).values()
            yield [out, *self._scenes, *options_of(self._files("seeds", "candidates", shard=shard))], [out]

    def related(self) -> Iterator[tuple[list, list[Path]]]:
        for shard in self.shards:
            outputs = self._files("related", shard=shard)
            inputs = self._files("seeds", "candidates", "presence", shard=shard)
            yield options_of(inputs | outputs), list(outputs.values())

    def image_examples(self) -> Iterator[tuple[list, list[Path]]]:
        folder = self.folder / "filters"
        given = ["--graphs", self.folder, "--overlap", self._overlap, "--config", self.example_settings]
        yield [folder, *self._scenes, *given], [folder / "examples.parquet", folder / "texts.parquet"]

    @property
    def _ingested(self) -> list[Path]:
        return [self.folder / "sources" / source["name"] for source in self.sources]

    @property
    def _scenes(self) -> list:
        return ["--scenes", self.folder / "scenes"]

    @property
    def _lexicon(self) -> Path:
        return self.folder / "lexicon.json"

    @property
    def _overlap(self) -> Path:
        return self.folder / "overlap.parquet"

    def _files(self, *tables: str, shard: str) -> dict[str, Path]:
        return {table: self.folder / table / f"{shard}.parquet" for table in tables}


def report(costs: dict[int, dict[str, Cost]]) -> None:
    """Print stage by size: CPU seconds, peak memory and bytes; how they grow; and what is aimed at."""
    sizes = list(costs)
    header = ["stage"]
    for size in sizes:
        header += [f"{size:,} scenes: CPU s", "peak MB", "scratch MB", "written MB"]
    header += [f"growth {one:,} to {other:,}" for one, other in zip(sizes, sizes[1:], strict=False)]
    rows = []
    for name in costs[sizes[0]]:
        row = [name]
        for size in sizes:
            cost = costs[size][name]
            row += [f"{cost.cpu:.1f}", f"{cost.memory:.0f}", f"{cost.scratch / 1e6:.0f}", f"{cost.written / 1e6:.1f}"]
        for one, other in zip(sizes, sizes[1:], strict=False):
            row.append(f"{exponent((one, costs[one][name].cpu), (other, costs[other][name].cpu)):.2f}")
        rows.append([*row, TARGETS.get(name, "")])
    print_table([*header, "target at 185,000"], rows)


if __name__ == "__main__":
    main()
