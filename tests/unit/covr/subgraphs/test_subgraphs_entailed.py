"""What contains the subgraph by a name that entails one of its names is no distractor, though the two names were
never seen in one context."""

import pytest

from compvqa import tables
from compvqa.covr.filters.words.overlap import OverlapSettings, overlap
from compvqa.covr.subgraphs.subgraph import Edge, make
from compvqa.scenes.entries import LexiconData
from compvqa.scenes.graph import Object, Relation, SceneGraph
from compvqa.scenes.lexicon import Lexicon
from unit.covr.subgraphs.graph_store import EVERYTHING, OVERLAP, Store, split_of
from unit.covr.subgraphs.graph_worlds import write_scenes
from unit.covr.subgraphs.related_compare import differences
from unit.covr.subgraphs.related_oracle import World

LEXICON = {
    "nouns": {name: {} for name in ("man", "woman", "bottle", "cup")},
    "relations": {"holding": {}, "gripping": {"entails": ["holding"]}},
}
ENTAILING = {("noun", "wine bottle", "bottle"), ("relation", "gripping", "holding")}


def world(folder):
    """A man holds a bottle; elsewhere a woman does, but there a man also grips a wine bottle."""
    start = graph("s:0", ("man", "holding", "bottle"))
    other = graph("s:1", ("woman", "holding", "bottle"), ("man", "gripping", "wine bottle"))
    clear = graph("s:2", ("woman", "holding", "bottle"), ("man", "gripping", "cup"))
    graphs = [start, other, clear]
    Lexicon(LexiconData.model_validate(LEXICON)).dump(folder / "lexicon.json")
    overlap(
        write_scenes(folder / "judged", graphs), folder / "lexicon.json", folder / "judged.parquet", OverlapSettings()
    )
    rows = tables.read(folder / "judged.parquet", OVERLAP).to_pylist()
    return graphs, {(row["kind"], row["x"], row["y"]): row["m"] for row in rows}


def graph(scene_id, *triplets):
    """A scene with a subject and an object for each relation."""
    objects, relations = {}, []
    for subject, relation, target in triplets:
        one, other = str(len(objects)), str(len(objects) + 1)
        objects |= {one: Object(one, subject), other: Object(other, target)}
        relations.append(Relation(relation, one, other))
    return SceneGraph(scene_id, objects, tuple(relations))


def distractors(folder, graphs, judged, g):
    """The scenes in which another noun is found in the place of g's root; the nested loops find the same."""
    seeds, candidates, _ = Store(folder, graphs, judged).search(**EVERYTHING)
    assert differences(World(graphs, split_of, judged), seeds, candidates)[0] == {}
    (seed,) = (row["seed"] for row in seeds if row["tree"] == g.json() and row["scene_id"] == "s:0")
    return {row["scene_id"] for row in candidates if row["seed"] == seed and row["key"] == "0_name"}


def test_a_hyponym_of_another_context_is_read_as_the_name(tmp_path):
    graphs, judged = world(tmp_path)
    g = make("man", None, (Edge("holding", make("bottle")),))
    assert distractors(tmp_path / "with", graphs, judged, g) == {"s:2"}
    either = {pair for kind, x, y in ENTAILING for pair in ((kind, x, y), (kind, y, x))}
    assert either <= judged.keys()
    in_context = {pair: m for pair, m in judged.items() if pair not in either}
    assert distractors(tmp_path / "without", graphs, in_context, g) == {"s:1", "s:2"}


@pytest.mark.parametrize(("asked", "found", "overlap"), [("holding", "gripping", True), ("gripping", "holding", False)])
def test_a_scene_is_read_by_m_of_the_asked_name_and_the_found_one(tmp_path, asked, found, overlap):
    """Who grips a bottle holds it; were m(gripping, holding) high, who holds one need not grip it."""
    judged = {("relation", "holding", "gripping"): 0.0, ("relation", "gripping", "holding"): 0.9}
    judged |= {("noun", x, y): 0.9 for x, y in (("man", "woman"), ("woman", "man"))}
    graphs = [graph("s:0", ("man", asked, "cup")), graph("s:1", ("woman", asked, "cup"), ("man", found, "cup"))]
    g = make("man", None, (Edge(asked, make("cup")),))
    assert distractors(tmp_path, graphs, judged, g) == (set() if overlap else {"s:1"})
