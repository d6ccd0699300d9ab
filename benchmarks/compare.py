"""The two graph backends side by side on the same scenes, and the set-wise search beside the generator that COVR's
authors released (a checkout of github.com/benbogin/covr-dataset) on the same seeds.

    python benchmarks/compare.py FOLDER --ontology resources/gqa_ontology --scenes 1000 --server 'serve-neo4j $FOLDER'
    python benchmarks/compare.py FOLDER --ontology resources/gqa_ontology --scenes 1000 --released CHECKOUT

The seeds are drawn from the part train. The Bolt server is that of the tests, or --server; its CPU seconds count. The
generator is asked about as many other seeds before the clock starts. The set-wise ways pay for whole processes and for
the index of all scenes, whatever the number of seeds. FOLDER is that of benchmarks/graph.py.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import yaml
from graph import Chain, simulated
from measure import NOTHING, ROOT, Spent, checkouts, print_table, stage
from questions import generate
from released import Names, Released, load, write_scenes

from compvqa import tables
from compvqa.covr.subgraphs.search import Neo4jSettings
from compvqa.covr.subgraphs.search.neo4j.bolt import URI, Server, connect
from compvqa.covr.subgraphs.search.neo4j.service import serving
from compvqa.covr.subgraphs.subgraph import Subgraph, parse
from compvqa.covr.subgraphs.tables import OCCURRENCES, SEEDS
from compvqa.scenes.graph import SceneStore
from compvqa.seeds import by_rank

SPLIT = "train"
SHARED = ("scenes", "subgraphs", "overlap.parquet", "lexicon.json")  # what single seeds have from all


@dataclass(frozen=True)
class Row:
    """What a way found, and what it cost: once for all scenes, and then for so many seeds."""

    way: str
    seeds: int
    found: int
    unit: str
    once: float  # CPU seconds, of which those of a server are a part
    cpu: float
    server: float
    wall: float
    queries: int = 0

    @property
    def a_seed(self) -> float:
        """CPU seconds a seed."""
        return self.cpu / self.seeds

    @property
    def rate(self) -> float:
        """What is found in a CPU second."""
        return self.found / self.cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where simulated files and tables are kept")
    parser.add_argument("--ontology", type=Path, required=True, help="folder of GQA's ontology files")
    parser.add_argument("--scenes", type=int, default=1_000, help="simulated scenes")
    parser.add_argument("--config", type=Path, help="a config whose sources to take instead")
    parser.add_argument("--seeds", type=int, default=500, help="seeds to draw")
    parser.add_argument(
        "--released", type=Path, help="a checkout of the released generator; without it, it is left out"
    )
    bolt_server = shlex.join([sys.executable, str(ROOT / "tests/fixtures/bolt_server.py")])
    parser.add_argument("--server", default=f"{bolt_server} $FOLDER", help="as neo4j.command")
    options = parser.parse_args()
    if os.environ.get(URI):
        sys.exit(f"{URI} is set: unset it, the CPU seconds of a server that runs already can't be counted.")
    checkouts(None, options.released)
    code = options.released and options.released / "generation/dataset_gen"
    if options.config:
        config = yaml.safe_load(options.config.read_text(encoding="utf-8"))
        chain = Chain(options.folder / config["testbed"], config["sources"], options.ontology)
        chain.folder.mkdir(parents=True, exist_ok=True)
    else:
        chain = simulated(options.scenes, options.folder, options.ontology)
    for name in ("lexicon", "ingest", "scenes"):
        chain.cost(name)
    once = sum((chain.cost(name) for name in ("subgraphs", "overlap")), NOTHING).cpu
    rows = list(set_wise("set-wise, all seeds", chain, once))
    backends(chain, options.server)
    if not code:
        return report(rows)
    drawn = draw(chain, 2 * options.seeds)
    seeds, others = drawn[: options.seeds], drawn[options.seeds :]
    few = restricted(chain, seeds)
    rows += set_wise("set-wise", few, once)
    rows.append(released(few, seeds, others, options.server, code))
    report(rows)


def backends(chain: Chain, command: str) -> None:
    """Print what the search for all seeds costs by each backend, and whether both give the same rows."""
    made, lines = {}, []
    for name in ("duckdb", "neo4j"):
        own = replace(chain, candidate_settings=json.dumps({"backend": name}))
        with ExitStack() as stack:
            if name == "neo4j":
                stack.enter_context(serving(Neo4jSettings(command=command), chain.folder / "server"))
                begin = Spent.so_far()
                loading = stage(["load-neo4j", "--scenes", chain.folder / "scenes"], [], chain.folder / "log.txt")
                server = (Spent.so_far() - begin).server
                lines.append(["neo4j: loading, reading back", loading.cpu, server, loading.wall])
            begin = Spent.so_far()
            cost = own.cost("candidates")
            server = (Spent.so_far() - begin).server
        lines.append([f"{name}: search", cost.cpu, server, cost.wall])
        made[name] = [tables.read(chain.file(table)) for table in ("seeds", "candidates")]
    times = lines[-1][-1] / lines[0][-1]
    print_table(["backend", "CPU s", "of the server", "wall s"], [[n, *map("{:.1f}".format, r)] for n, *r in lines])
    same = "the same rows" if made["duckdb"] == made["neo4j"] else "NOT the same rows"
    print(f"The search takes {times:.1f} times as long by neo4j as by duckdb, and gives {same}.")


def draw(chain: Chain, number: int) -> list[dict]:
    """So many rows of the chain's seeds, in an order that depends on them alone."""
    seeds = [row for row in tables.read(chain.file("seeds"), SEEDS).to_pylist() if row["split"] == SPLIT]
    return by_rank(1, "compare", seeds, key=lambda row: row["seed"])[:number]


def restricted(chain: Chain, seeds: list[dict]) -> Chain:
    """A chain on the same scenes whose only seeds are these: no other occurrence is marked as one."""
    few = replace(chain, folder=chain.folder / "compare")
    shutil.rmtree(few.folder, ignore_errors=True)
    few.folder.mkdir()
    for name in SHARED:
        (few.folder / name).symlink_to(f"../{name}")
    mine = {(row["scene_id"], row["subgraph_key"]) for row in seeds}
    occurring = tables.read(chain.file("occurrences"), OCCURRENCES)
    places = zip(occurring["scene_id"].to_pylist(), occurring["subgraph_key"].to_pylist(), strict=True)
    marks = pc.and_(occurring["seed"], pa.array([place in mine for place in places]))
    occurring = occurring.drop_columns("seed").append_column("seed", marks)
    tables.write(few.file("occurrences"), OCCURRENCES, occurring)
    return few


def set_wise(way: str, chain: Chain, once: float) -> Iterator[Row]:
    """The search for the chain's seeds, then the search and all that follows it up to questions."""
    cost = chain.cost("candidates")
    seeds, found = (pq.read_metadata(chain.file(table)).num_rows for table in ("seeds", "candidates"))
    yield Row(way, seeds, found, "scenes", once, cost.cpu, 0, cost.wall)
    for name in ("presence", "related"):
        cost += chain.cost(name)
    generation, others, questions = generate(chain.folder)
    cost += others + generation
    yield Row(f"{way}, and questions", seeds, questions, "questions", once, cost.cpu, 0, cost.wall)


@contextmanager
def server_of(command: str, chain: Chain) -> Iterator[Server]:
    """A new Bolt server, started by ``command``."""
    settings = Neo4jSettings(command=command)
    with serving(settings, chain.folder / "server"), connect(settings.patience) as server:
        yield server


def released(chain: Chain, seeds: list[dict], others: list[dict], command: str, code: Path) -> Row:
    """The released generator on the same scenes and seeds."""
    store = SceneStore(chain.folder / "scenes")
    names = Names(store, SPLIT)
    write_scenes(store, names, SPLIT, chain.folder / "released")
    warm, asked = (_by_scene(chain, store, names, rows) for rows in (others, seeds))
    with redirect_stdout(sys.stderr), server_of(command, chain) as server:
        begin = Spent.so_far()
        load(server, store, names, SPLIT)
        generator = Released(code, chain.folder / "released", SPLIT)
        once = Spent.so_far() - begin
        for scene, roots in warm.items():
            list(generator.questions(scene, roots))
        before, begin = generator.queries, Spent.so_far()
        found = {question for scene, roots in asked.items() for question in generator.questions(scene, roots)}
        cost = Spent.so_far() - begin
        queries = generator.queries - before
        generator.close()
    costs = (once.cpu, cost.cpu, cost.server, cost.wall)
    return Row("released generator", len(seeds), len(found), "questions", *costs, queries)


def _by_scene(chain: Chain, store: SceneStore, names: Names, seeds: list[dict]) -> dict[str, dict[str, list[Subgraph]]]:
    """The seeds' subgraphs by scene and root, in the released generator's ids."""
    trees = {(row["scene_id"], row["subgraph_key"]): row["tree"] for row in seeds}
    rows = tables.read(chain.file("occurrences"), OCCURRENCES, ("scene_id", "subgraph_key", "root_id"))
    rows = rows.filter(pc.is_in(rows["subgraph_key"], pa.array([row["subgraph_key"] for row in seeds], pa.int64())))
    found: dict[str, dict[str, list[Subgraph]]] = {}
    for scene_id, key, root in sorted(set(zip(*(column.to_pylist() for column in rows.columns), strict=True))):
        if (scene_id, key) in trees:
            ids = names.objects(store.graph(scene_id))
            of_scene = found.setdefault(names.scenes[scene_id], {})
            of_scene.setdefault(ids[root], []).append(parse(trees[scene_id, key]))
    return found


def report(rows: list[Row]) -> None:
    """Print what each way found and cost, the set-wise ways beside the other that finds the same kind of thing."""
    header = ["way", "seeds", "found", "", "queries", "once: CPU s", "then: CPU s", "of it server", "wall s"]
    header += ["CPU ms a seed", "times less", "found a CPU s", "times more"]
    others = {row.unit: row for row in rows if row.queries}
    lines = []
    for row in rows:
        costs = [f"{row.once:.1f}", f"{row.cpu:.1f}", f"{row.server:.1f}", f"{row.wall:.1f}"]
        less = more = ""
        if row.unit in others and not row.queries:
            other = others[row.unit]
            less, more = f"{other.a_seed / row.a_seed:.1f}", f"{row.rate / other.rate:.1f}"
        line = [row.way, f"{row.seeds:,}", f"{row.found:,}", row.unit, f"{row.queries:,}", *costs]
        lines.append([*line, f"{1000 * row.a_seed:.2f}", less, f"{row.rate:,.0f}", more])
    print_table(header, lines)


if __name__ == "__main__":
    main()
