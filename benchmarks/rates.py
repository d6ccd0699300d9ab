"""How many questions a CPU second generators make of the same simulated scenes: ours, ProVision's, COVR's released.

    python benchmarks/rates.py FOLDER --ontology resources/gqa_ontology --scenes 185000 --shards 64 \\
        --provision CHECKOUT --covr CHECKOUT --server 'python containers/serve_neo4j.py $FOLDER'

The checkouts are of github.com/JieyuZ2/ProVision and github.com/benbogin/covr-dataset; without one its rows are left
out. FOLDER is that of benchmarks/graph.py. Our chain runs with the settings of --configfile from raw files to related
images, and asks about the seeds of the first --asked shards; the first row is the stage ``questions`` alone, the second
bears those shards' part of all stages from subgraphs on. The others ask about the side train of the same scenes. Nobody
has an image filter. Loading scenes into ProVision, and into COVR's server, is left out of their CPU seconds. A
generator of ProVision that gives up before it has --questions is named and left out.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import graph
import psutil
import yaml
from graph import STAGES, Chain, simulated
from measure import NOTHING, ROOT, Spent, checkouts, print_table
from provisions import ProVision, write_annotations
from questions import generate
from released import Names, asked, generating

from compvqa.scenes.graph import SceneStore
from compvqa.seeds import by_rank

SIDE = "train"
FIXED = "PYTHONHASHSEED"  # what other generators make depends on the order of their sets
FROM_SUBGRAPHS = STAGES[STAGES.index("subgraphs") : STAGES.index("related") + 1]


@dataclass(frozen=True)
class Row:
    """A generator, how many questions it made, and in how many CPU seconds."""

    name: str
    made: int
    cpu: float
    memory: float  # MB, at the most

    @property
    def rate(self) -> float:
        return self.made / self.cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where simulated files and tables are kept")
    parser.add_argument("--ontology", type=Path, required=True, help="folder of GQA's ontology files")
    parser.add_argument("--scenes", type=int, default=10_000, help="simulated scenes")
    parser.add_argument("--shards", type=int, default=8, help="shards of our stages, one after the other")
    parser.add_argument("--asked", type=int, default=1, help="shards about whose seeds we ask")
    parser.add_argument(
        "--configfile", type=Path, default=ROOT / "config/simulated.yaml", help="whose settings our stages have"
    )
    parser.add_argument("--provision", type=Path, help="a checkout of ProVision")
    parser.add_argument("--questions", type=int, default=150, help="questions of each generator of ProVision")
    parser.add_argument("--covr", type=Path, help="a checkout of COVR's released generator")
    parser.add_argument("--starts", type=int, default=60, help="scenes from whose subgraphs COVR's generator starts")
    bolt_server = shlex.join([sys.executable, str(ROOT / "tests/fixtures/bolt_server.py")])
    parser.add_argument("--server", default=f"{bolt_server} $FOLDER", help="as neo4j.command, for COVR's generator")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    checkouts(options.provision, options.covr)
    if os.environ.get(FIXED) != "0":
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {FIXED: "0"})
    settings = yaml.safe_load(options.configfile.read_text(encoding="utf-8"))["dataset"]
    shards = [f"{number}-of-{options.shards}" for number in range(1, options.shards + 1)]
    chain = replace(
        simulated(options.scenes, options.folder, options.ontology),
        shards=shards,
        candidate_settings=json.dumps(settings.get("candidates", {})),
    )
    rows = list(ours(chain, options.asked, json.dumps(settings.get("questions", {}))))
    store = SceneStore(chain.folder / "scenes")
    if options.provision:
        rows += provisions(store, chain.folder, options)
    if options.covr:
        rows.append(covrs(store, chain.folder, options))
    report(rows)


def ours(chain: Chain, shards: int, settings: str) -> Iterator[Row]:
    """Our questions of the first shards, alone and with what was done for them before."""
    chain.cost("lexicon")
    costs = {name: chain.cost(name) for name in STAGES[: STAGES.index("related") + 1]}
    graph.report({len(SceneStore(chain.folder / "scenes").scenes): costs})
    search = sum((costs[name] for name in FROM_SUBGRAPHS), NOTHING)
    asking, others, made = generate(chain.folder, shards, settings)
    if not made:
        sys.exit(f"{chain.folder} gave no question: take more --scenes.")
    part = search.cpu * shards / len(chain.shards)
    yield Row("ours, the stage questions", made, asking.cpu, asking.memory)
    memory = max(search.memory, others.memory, asking.memory)
    yield Row("ours, from subgraphs on", made, part + (others + asking).cpu, memory)


def provisions(store: SceneStore, folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """ProVision's questions about two images, and about four."""
    file = folder / "provision-scenes.json"
    write_annotations(store, of_side(store), file)
    generator = ProVision(options.provision, file)
    for images in (2, 4):
        made, cpu = 0, 0.0
        for kind in generator.kinds:
            begin = Spent.so_far()
            records = generator.records(kind, images, options.questions, options.seed)
            if len(records) == options.questions:
                made, cpu = made + len(records), cpu + (Spent.so_far() - begin).cpu
            else:  # nearly all of its time went into draws that came to nothing
                print(f"ProVision, {images} images: {kind.__name__} gave up at {len(records)} questions")
        if made:
            yield Row(f"ProVision, {images} images", made, cpu, memory_here())


def covrs(store: SceneStore, folder: Path, options: argparse.Namespace) -> Row:
    """The questions of COVR's released generator, each once; its server's CPU seconds count."""
    names, drawn = Names(store, SIDE), by_rank(options.seed, "covr", of_side(store))[: options.starts]
    with generating(options.covr, store, names, SIDE, folder, options.server) as generator:
        begin = Spent.so_far()
        made = len(asked(generator, [names.scenes[scene] for scene in drawn]))
        cpu = (Spent.so_far() - begin).cpu
        memory = memory_here()
    return Row("COVR's released", made, cpu, memory)


def of_side(store: SceneStore) -> list[str]:
    """The scenes that are asked about."""
    return [row["scene_id"] for row in store.scenes.to_pylist() if row["split"] == SIDE]


def memory_here() -> float:
    """MB that this process and those that it started hold now."""
    here = psutil.Process()
    return sum(process.memory_info().rss for process in [here, *here.children(recursive=True)]) / 2**20


def report(rows: list[Row]) -> None:
    """Print each generator's rate, and how many times as many questions our whole chain makes."""
    whole, lines = rows[1].rate, []
    for row in rows:
        rates = [f"{row.rate:,.0f}", f"{whole / row.rate:.2f}"]
        lines.append([row.name, f"{row.made:,}", f"{row.cpu:.1f}", *rates, f"{row.memory:.0f}"])
    print_table(["generator", "questions", "CPU s", "a CPU s", "ours by it", "MB"], lines)


if __name__ == "__main__":
    main()
