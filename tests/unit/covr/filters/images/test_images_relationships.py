"""Relationships: how two boxes lie, what is learnt of it, and which subgraphs it tells of."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.filters.images import relationships
from compvqa.covr.filters.images.methods import learned
from compvqa.covr.filters.images.presence import PRESENCE, score_pairs
from compvqa.covr.filters.images.relationships import RelationshipModel, RelationshipSettings, Words, places
from compvqa.covr.filters.images.training import load_relationships
from compvqa.covr.subgraphs.subgraph import Edge, make
from compvqa.features.store import ImageRegions, Regions, RegionStore, geometry, write
from compvqa.files import read_json
from compvqa.scenes.graph import Object, Relation, SceneGraph, SceneStore
from compvqa.weights import load_weights
from unit.covr.filters.images.classifier_worlds import RELATED, SETTINGS, ClassifierWorld
from unit.covr.subgraphs.graph_worlds import write_scenes

NOUNS = ("cup", "table")
WORDS = Words(["cup", "table"], ["blue", "red"], ["above", "below"])
SIZE = (200.0, 100.0)


def cups(count, seed, shuffled=False):
    """Scenes of a red and a blue cup, one above and one below a table, with features that tell noun and colour in some
    noise; with ``shuffled``, annotated relations tell nothing."""
    draw = np.random.default_rng(seed)
    graphs, images = [], []
    for number in range(count):
        (x, y), width = draw.uniform((40, 40), (120, 50)), draw.uniform(30, 60)
        colors = draw.permutation(["red", "blue"]).tolist()
        spots = [
            (x, y, width, 8.0),
            (x + draw.uniform(0, 20), y - 14, 9.0, 12.0),
            (x + draw.uniform(0, 20), y + 10, 9.0, 12.0),
        ]
        things = {
            "0": Object("0", "table", {}, spots[0]),
            "1": Object("1", "cup", {colors[0]: "color"}, spots[1]),
            "2": Object("2", "cup", {colors[1]: "color"}, spots[2]),
        }
        names = draw.permutation(["above", "below"]).tolist() if shuffled else ["above", "below"]
        relations = tuple(Relation(name, key, "0") for key, name in zip("12", names, strict=True))
        graphs.append(SceneGraph(f"s:{number:03d}", things, relations))
        told = [
            [NOUNS.index(o.name) == 0, NOUNS.index(o.name) == 1, "red" in o.attributes, "blue" in o.attributes]
            for o in things.values()
        ]
        features = np.array(told, np.float32) + draw.normal(0, 0.1, (3, 4)).astype(np.float32)
        images.append(ImageRegions(f"s:{number:03d}", np.array(spots, np.float32), SIZE, features))
    return graphs, images


def stored(folder, graphs, images):
    folder.mkdir()
    write(folder / "regions.parquet", folder / "features.safetensors", images, 4, len(images) * 3)
    store = RegionStore(folder / "regions.parquet", folder / "features.safetensors")
    return SceneStore(write_scenes(folder / "scenes", graphs, lambda scene_id: "train")), store


def taught(folder, graphs, images):
    scenes, store = stored(folder, graphs, images)
    ids = [graph.scene_id for graph in graphs]
    shown = relationships.what_is_shown(scenes, {name: name for name in ids}, store, WORDS)
    torch.manual_seed(1)
    settings = RelationshipSettings(steps=300, images=8, size=16)
    return relationships.train(WORDS, ids, shown, 4, settings, 1, "cups").double()


def asked(images, color):
    """For each image a cup of ``color`` above the table."""
    graph = make("cup", color, (Edge("above", make("table")),))
    return [(graph, Regions(image.features, geometry(image.boxes, image.size))) for image in images]


def above(graphs, color):
    return np.array([color in graph.objects["1"].attributes for graph in graphs])


@pytest.mark.parametrize("shuffled", [False, True])
def test_it_tells_which_of_two_things_is_so_related_unless_annotations_tell_nothing(tmp_path, shuffled):
    net = taught(tmp_path / "learnt", *cups(120, 1, shuffled))
    graphs, images = cups(60, 2)
    p, there = net.related(asked(images, "red")), above(graphs, "red")
    right = ((p[there][:, None] > p[~there]).mean() + (p[there][:, None] >= p[~there]).mean()) / 2
    assert 10 < there.sum() < 50
    assert right > 0.99 if not shuffled else right < 0.8


@given(st.lists(st.tuples(*[st.floats(0, 0.8)] * 2, *[st.floats(0.02, 0.2)] * 2), min_size=2, max_size=2))
def test_places_are_those_of_the_mirror_image(boxes):
    left, top, width, height = torch.tensor(boxes, dtype=torch.float64).unbind(dim=1)
    corners = torch.stack([left, top, left + width, top + height], dim=1)
    mirrored = torch.stack([1 - left - width, top, 1 - left, top + height], dim=1)
    first, second = (places(found[:1], found[1:]) for found in (corners, mirrored))
    assert first.shape == (1, relationships.PLACES)
    assert torch.allclose(first, second, atol=1e-9)


def one_by_one(net, subgraph, regions):
    """The same by trying each pair of regions alone, word by word."""
    (edge,) = subgraph.edges
    relation = 1 + WORDS.relations.index(edge.name)
    features = torch.from_numpy(regions.features).double()
    names, attributes = net.names(features).softmax(dim=1), net.attributes(features).sigmoid()
    tried = [(0.0, 0.0)]
    for i in range(len(features)):
        for j in range(len(features)):
            if i != j and features[i].any() and features[j].any():
                fit = 1.0
                for node, row in ((subgraph, i), (edge.target, j)):
                    fit *= names[row, WORDS.nouns.index(node.name)].item()
                    if node.attribute:
                        fit *= attributes[row, WORDS.attributes.index(node.attribute)].item()
                boxes, pair = torch.from_numpy(regions.geometry[[i, j], :4]).double(), torch.tensor([[0, 1]])
                tried.append((fit, net(boxes, names[[i, j]], pair).softmax(dim=1)[0, relation].item()))
    most = max(fit for fit, _ in tried)
    p = max(fit / most * related for fit, related in tried) if most else 0.0
    often = (net.often + 1).tolist()
    odds = sum(often) / often[relation] - 1  # of an image that lacks it
    return p * odds / (p * odds + 1 - p)


def test_the_two_regions_that_fit_best_count_and_no_zeroed_one():
    torch.manual_seed(3)
    net = RelationshipModel(WORDS, 4, 8).double().eval()
    net.often += torch.tensor([80, 15, 5])
    _, images = cups(6, 4)
    ends = [("cup", "table", "above"), ("table", "cup", "below")]
    told = [(None, None), ("red", None), (None, "blue")]
    graphs = [make(a, x, (Edge(r, make(b, y)),)) for a, b, r in ends for x, y in told]
    pairs = [(graph, regions) for _, regions in asked(images, "red") for graph in graphs]
    hidden = [(graph, seen._replace(features=seen.features * np.array([[1], [0], [1]]))) for graph, seen in pairs]
    for some in (pairs, hidden):
        expected = [one_by_one(net, graph, regions) for graph, regions in some]
        assert 0 < min(expected) < max(expected) < 1
        np.testing.assert_allclose(net.related(some), expected, rtol=1e-9)
    alone = [(graph, Regions(seen.features[:1], seen.geometry[:1])) for graph, seen in pairs]
    assert not net.related(alone).any()


def test_annotated_pairs_are_learnt_each_way(tmp_path):
    graphs, images = cups(1, 5)
    partial = np.append(images[0].boxes, [[0, 90, 5, 5]], axis=0).astype(np.float32)  # of nothing that is annotated
    images[0] = images[0]._replace(boxes=partial, features=np.append(images[0].features, np.ones((1, 4)), axis=0))
    folder = tmp_path / "one"
    folder.mkdir()
    write(folder / "regions.parquet", folder / "features.safetensors", images, 4, 4)
    store = RegionStore(folder / "regions.parquet", folder / "features.safetensors")
    bare = replace(
        graphs[0], scene_id="s:bare", objects={k: replace(o, box=None) for k, o in graphs[0].objects.items()}
    )
    scenes = SceneStore(write_scenes(folder / "scenes", [graphs[0], bare], lambda scene_id: "train"))
    shown = relationships.what_is_shown(scenes, {"s:000": "s:000", "elsewhere": "s:bare"}, store, WORDS)
    found = shown("s:000")
    keys = [{0: "1", 1: "0"}[noun] for noun in found.nouns.tolist()]
    assert sorted(keys) == ["0", "1", "1"] and len(found.regions.features) == 3
    told = {
        tuple(pair): relation for pair, relation in zip(found.pairs.tolist(), found.relations.tolist(), strict=True)
    }
    assert len(told) == 6 and sorted(told.values()) == [0, 0, 0, 0, 1, 2]
    assert shown("elsewhere") is None


def test_subgraphs_whose_words_are_unknown_or_that_have_no_relation_are_left_to_the_model_of_texts():
    net = RelationshipModel(WORDS, 4, 8)
    related = make("cup", "red", (Edge("above", make("table")),))
    assert net.tells(related)
    strange = [make("mug", None, related.edges), make("cup", "green", related.edges), make("cup")]
    strange += [make("cup", None, (Edge("in", make("table")),)), make("cup", None, (Edge("above", make("desk")),))]
    strange += [make("cup", None, (*related.edges, Edge("below", make("table"))))]
    assert not any(map(net.tells, strange))


def test_a_relation_is_there_if_both_objects_are_by_text_and_they_are_so_related(tmp_path):
    """Whatever has none, or unknown words, is told as without what is learnt of relationships."""
    worlds = [ClassifierWorld(tmp_path / str(n), training=t) for n, t in enumerate((ClassifierWorld.training, RELATED))]
    graphs = [make("nothing of the kind")]
    for scene in worlds[0].graphs:
        names = {key: thing.name for key, thing in scene.objects.items()}
        graphs += map(make, names.values())
        graphs += [make(names[r.subject_id], None, (Edge(r.name, make(names[r.object_id])),)) for r in scene.relations]
    pairs = {(scene.scene_id, graph.key): graph for scene in worlds[0].graphs for graph in graphs}
    found = []
    for world in worlds:
        score_pairs(((scene, g) for (scene, _), g in pairs.items()), False, tmp_path / "p", world.knowledge, SETTINGS)
        rows = tables.read(tmp_path / "p", PRESENCE).to_pylist()
        found.append({(row["scene_id"], row["subgraph_key"]): row for row in rows})
    plain, related = found
    assert plain.keys() == related.keys() == pairs.keys()
    store = RegionStore(worlds[1].features / "regions.parquet", worlds[1].features / "features.safetensors")
    told = 0
    for (scene, key), row in related.items():
        folder, graph = worlds[1].knowledge.models / str(row["fold"]), pairs[scene, key]
        net = load_relationships(read_json(folder / "model.json"), load_weights(folder / "model.safetensors"))
        assert row["by_text"] == plain[scene, key]["p"] == plain[scene, key]["by_text"]
        if not net.tells(graph):
            assert row == plain[scene, key]
            continue
        ends = [plain[scene, make(node.name).key]["p"] for node in (graph, graph.edges[0].target)]
        p = min(*ends, net.related([(graph, store[scene])])[0])
        assert row["p"] == pytest.approx(p, abs=1.1 * 10.0**-learned.DIGITS)
        told += p < min(ends)
    assert told > 20
