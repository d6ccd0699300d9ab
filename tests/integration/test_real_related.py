"""Related scenes on subsets of GQA and imSitu: the set-wise search against nested loops over objects."""

from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from compvqa import tables
from compvqa.covr.filters.words.overlap import OVERLAP, OverlapSettings, overlap
from compvqa.covr.subgraphs.enumerate import SubgraphSettings, enumerate_scenes
from compvqa.covr.subgraphs.search import GraphFiles, SearchSettings, find_candidates
from compvqa.covr.subgraphs.subgraph import parse
from compvqa.covr.subgraphs.tables import CANDIDATES, SEEDS
from compvqa.scenes.graph import SceneStore
from compvqa.scenes.lexicon import Lexicon
from compvqa.seeds import stable_hash
from fixtures.real import real_scenes
from unit.covr.subgraphs.graph_store import EVERYTHING
from unit.covr.subgraphs.related_compare import FAMILIES, SEARCHED, differences
from unit.covr.subgraphs.related_oracle import World

pytestmark = pytest.mark.xdist_group("real-related")  # one process, so that the scenes are searched once
GROUPS = {  # seeds that are compared: 100 of each group, by stable rank
    "of GQA": lambda seed, g: seed["scene_id"].startswith("gqa:"),
    "of GQA, the root with attribute and relation": lambda seed, g: g.attribute is not None and bool(g.edges),
    "of imSitu": lambda seed, g: seed["scene_id"].startswith("imsitu:"),
    "several in a scene": lambda seed, g: seed["n_instances"] > 1,
}
OF_A_GROUP = 100
OCCUR = {"pos", "mult", "no_mult", "name", "attr", "name_neg_attr_root", "name_neg_object"}  # whatever m(x, y) is


def rank(*parts) -> int:
    return stable_hash("sample of the tests", *parts)


@pytest.fixture(scope="module")
def lexicon(shared, tmp_path_factory):
    path = tmp_path_factory.mktemp("lexicon") / "lexicon.json"
    Lexicon.from_gqa(shared / "data" / "vocab").dump(path)
    return path


@pytest.fixture(scope="module")
def scenes(shared, lexicon, tmp_path_factory):
    """The folder of all scenes of both sources."""
    return real_scenes(shared / "data", lexicon, tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="module")
def judged(scenes, lexicon, tmp_path_factory):
    """m(x, y) of all pairs of names, as the lexicon has it."""
    path = tmp_path_factory.mktemp("overlap") / "overlap.parquet"
    overlap(scenes, lexicon, path, OverlapSettings())
    return {(row["kind"], row["x"], row["y"]): row["m"] for row in tables.read(path, OVERLAP).to_pylist()}


@pytest.fixture(scope="module", params=["lexicon", "drawn"])
def compared(request, scenes, judged, tmp_path_factory):
    """By kind of key: where the two differ for a sample of seeds, and how many rows there should be.

    The lexicon calls few real relations exclusive, so the second time m(x, y) is drawn.
    """
    if request.param == "drawn":
        judged = {pair: 0.1 if rank(*pair) % 5 == 0 else 0.9 for pair in judged}
    folder = tmp_path_factory.mktemp("search")
    names, seeds, candidates = (folder / f"{name}.parquet" for name in ("overlap", "seeds", "candidates"))
    columns = [list(column) for column in zip(*judged, strict=True)]
    columns += [list(judged.values()), [request.param] * len(judged)]
    tables.write(names, OVERLAP, pa.table(columns, OVERLAP.fields.names))
    search(scenes, names, seeds, candidates)
    chosen = sample(tables.read(seeds, SEEDS).to_pylist())
    of_chosen = pc.is_in(tables.read(candidates)["seed"], pa.array([row["seed"] for row in chosen]))
    found = tables.read(candidates, CANDIDATES).filter(of_chosen).to_pylist()
    store = SceneStore(scenes)
    splits = dict(zip(*(store.scenes[c].to_pylist() for c in ("scene_id", "split")), strict=True))
    return differences(World(store.graphs(splits), splits.get, judged), chosen, found)


def search(scenes: Path, overlap: Path, seeds: Path, candidates: Path) -> None:
    files = seeds.with_name("subgraphs.parquet"), seeds.with_name("occurrences.parquet")
    enumerate_scenes(scenes, 0, 1, *files, SubgraphSettings(texts=False))
    graph = GraphFiles(scenes, *([path] for path in files))
    find_candidates(graph, overlap, [(seeds, candidates)], SearchSettings(**EVERYTHING), seed=0)


def sample(seeds: list[dict]) -> list[dict]:
    """The first seeds by rank of each group."""
    seeds = sorted(seeds, key=lambda seed: rank(seed["seed"]))
    chosen = {}
    for belongs in GROUPS.values():
        of_group = (seed for seed in seeds if belongs(seed, parse(seed["tree"])))
        chosen |= {seed["seed"]: seed for seed in islice(of_group, OF_A_GROUP)}
    return list(chosen.values())


@pytest.mark.parametrize("family", SEARCHED)
def test_finds_what_nested_loops_find_on_real_scenes(compared, family):
    wrong, rows = compared
    assert [wrong[kind][:1] for kind in FAMILIES[family] if kind in wrong] == []
    assert rows.keys() >= OCCUR
