"""The sprites world: what is drawn, what is true of it, and what its annotators write."""

import hashlib
import io
import json
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
import resvg_py
from PIL import Image

from compvqa import tables
from compvqa.scenes.graph import SceneStore
from compvqa.scenes.lexicon import Lexicon
from compvqa.scenes.worlds.sprites import SpritesSettings, generate, plan
from compvqa.scenes.worlds.sprites.draw import render
from compvqa.scenes.worlds.sprites.graph import careless, complete
from compvqa.scenes.worlds.sprites.scene import NEAR
from compvqa.scenes.worlds.sprites.situations import VERBS
from compvqa.scenes.worlds.sprites.sketch import paint_definitions
from compvqa.scenes.worlds.sprites.vocabulary import ENTAILS, GROUP_OF, NOUNS, POSITIONS, WORDNET
from compvqa.scenes.worlds.sprites.world import sample_scene, sample_situation

pytestmark = pytest.mark.xdist_group("sprites")  # one process, so that its world is made once

SMALL = SpritesSettings(train_scenes=40, val_scenes=20, encoder_scenes=20, calibration_scenes=10, workers=1)
CAREFUL = {
    name: 0.0
    for name in SpritesSettings.model_fields
    if name.startswith(("missing", "wrong")) or name in ("hypernym", "synonym", "disagreement")
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A small world, as written."""
    out = tmp_path_factory.mktemp("sprites")
    generate(out, SMALL, seed=3)
    return out


@pytest.fixture(scope="module")
def scenes():
    """Scenes of all kinds, as sampled."""
    plain = [sample_scene(f"image{i}", "train", SMALL, seed=5) for i in range(60)]
    acted = [sample_situation(f"{v}_{i}", v, "train", SMALL, 5) for v in VERBS for i in range(4)]
    return plain + acted


def digests(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def alpha(layers, scene):
    """Where the layers are opaque."""
    body = "".join(layer.svg() for layer in layers)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{scene.width}" height="{scene.height}">'
        f"<defs>{paint_definitions(body)}</defs>{body}</svg>"
    )
    png = bytes(resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=True))
    return np.array(Image.open(io.BytesIO(png)).convert("RGBA"))[:, :, 3] > 100


def test_two_processes_and_one_write_the_same_bytes(world, tmp_path):
    generate(tmp_path, SMALL.model_copy(update={"workers": 2}), seed=3)
    assert digests(tmp_path) == digests(world)


def test_a_scene_does_not_depend_on_the_scenes_around_it():
    few = SMALL.model_copy(update={"train_scenes": 10, "val_scenes": 1})
    some = dict.fromkeys(plan(few))
    assert set(some) <= set(plan(SMALL))
    image, split, verb = next(iter(some))
    assert not verb
    assert render(sample_scene(image, split, few, 3)) == render(sample_scene(image, split, SMALL, 3))


def test_the_formats_share_the_images_as_asked(world):
    kinds = Counter("imsitu" if verb else "gqa" for _, split, verb in plan(SMALL) if split in ("train", "val"))
    assert kinds == {"gqa": 42, "imsitu": 18}
    images = {path.stem for path in (world / "images").iterdir()}
    assert images == {image for image, _, _ in plan(SMALL)}
    gqa = json.loads((world / "train_sceneGraphs.json").read_text())
    imsitu = json.loads((world / "imsitu" / "train.json").read_text())
    assert set(gqa) | {name.removesuffix(".jpg") for name in imsitu} <= images
    with Image.open(world / "images" / f"{next(iter(gqa))}.png") as picture:
        assert picture.size == (SMALL.width, SMALL.height)


def test_gqa_records_have_the_shape_of_gqa(world):
    for name in ("train", "val"):
        for image, record in json.loads((world / f"{name}_sceneGraphs.json").read_text()).items():
            assert list(record) == ["width", "height", "objects"] and image.isdigit()
            for item in record["objects"].values():
                assert list(item) == ["name", "x", "y", "w", "h", "attributes", "relations"]
                assert all(isinstance(item[side], int) for side in "xywh")
                assert all(relation["object"] in record["objects"] for relation in item["relations"])


def test_scenes_outside_the_test_bed_are_in_none_of_its_files(world):
    images = {split: {image for image, of, _ in plan(SMALL) if of == split} for split in ("encoder", "calibration")}
    annotated = set()
    for name in ("train", "val"):
        annotated |= set(json.loads((world / f"{name}_sceneGraphs.json").read_text()))
    for name in ("train", "dev"):
        annotated |= {key.removesuffix(".jpg") for key in json.loads((world / "imsitu" / f"{name}.json").read_text())}
    assert len(annotated) == SMALL.train_scenes + SMALL.val_scenes
    truth = tables.read(world / "truth/complete/scenes.parquet")["image"].to_pylist()
    for split, own in images.items():
        assert len(own) == getattr(SMALL, f"{split}_scenes")
        assert not own & annotated and not {f"sprites:{image}" for image in own} & set(truth)
        for folder in ("annotated", "complete"):
            found = tables.read(world / "aside" / split / folder / "scenes.parquet")
            assert set(found["image"].to_pylist()) == {f"sprites:{image}" for image in own}


def test_scenes_outside_the_test_bed_are_annotated_as_carelessly(world):
    complete, annotated = (SceneStore(world / "aside/encoder" / name) for name in ("complete", "annotated"))
    names = sorted(complete.scenes["scene_id"].to_pylist())
    whole, careless_ones = (list(store.graphs(names)) for store in (complete, annotated))
    for many, few in zip(whole, careless_ones, strict=True):
        assert set(few.objects) <= set(many.objects)
        boxless = "imsitu" in few.scene_id
        assert all((item.box is None) == boxless for item in few.objects.values())
    assert sum(len(scene.objects) for scene in careless_ones) < 0.8 * sum(len(scene.objects) for scene in whole)


def test_imsitu_records_have_the_shape_of_imsitu(world):
    space = json.loads((world / "imsitu" / "imsitu_space.json").read_text())
    templates = (world / "imsitu" / "generation_templates.tab").read_text().splitlines()
    assert {line.split("\t")[0] for line in templates} == set(space["verbs"]) == set(VERBS)
    for name, record in json.loads((world / "imsitu" / "dev.json").read_text()).items():
        verb = space["verbs"][record["verb"]]
        assert name.startswith(record["verb"] + "_") and len(record["frames"]) == 3
        for frame in record["frames"]:
            assert sorted(frame) == sorted(verb["roles"])
            assert all(noun == "" or space["nouns"][noun]["gloss"] for noun in frame.values())


def test_every_noun_that_fills_a_role_has_a_wordnet_id(scenes):
    for scene in scenes:
        nouns = {thing.number: thing.noun for thing in scene.things}
        assert all(nouns.get(filler, filler) in WORDNET for filler in scene.roles.values())
    assert len(set(WORDNET.values())) == len(WORDNET)


def test_truth_and_annotations_name_the_same_scenes_and_objects(world):
    truth, missing = (SceneStore(world / "truth" / name) for name in ("complete", "missing_only"))
    assert truth.scenes.equals(missing.scenes)
    annotated = json.loads((world / "val_sceneGraphs.json").read_text())
    for image, record in annotated.items():
        key = f"sprites:{image}"
        objects = truth.graph(key).objects
        assert set(record["objects"]) == set(missing.graph(key).objects) <= set(objects)
        for number, item in record["objects"].items():
            assert objects[number].box == (item["x"], item["y"], item["w"], item["h"])
    assert "sprites-imsitu:watering_3.jpg" not in annotated
    acted = [key for key in truth.scenes["scene_id"].to_pylist() if key.startswith("sprites-imsitu:")]
    files = [json.loads((world / "imsitu" / f"{part}.json").read_text()) for part in ("train", "dev")]
    assert sorted(acted) == sorted(f"sprites-imsitu:{name}" for file in files for name in file)


def test_careful_annotators_write_the_truth(tmp_path):
    generate(tmp_path, SMALL.model_copy(update={**CAREFUL, "val_scenes": 10, "train_scenes": 10}), seed=1)
    truth, missing = (SceneStore(tmp_path / "truth" / name) for name in ("complete", "missing_only"))
    for image, record in json.loads((tmp_path / "train_sceneGraphs.json").read_text()).items():
        graph = truth.graph(f"sprites:{image}")
        assert graph == missing.graph(f"sprites:{image}")
        found = {
            (subject, relation["name"], relation["object"])
            for subject, item in record["objects"].items()
            for relation in item["relations"]
            if not relation["name"].startswith("to the ")
        }
        assert found == {(r.subject_id, r.name, r.object_id) for r in graph.relations}
        names = {number: (item["name"], sorted(item["attributes"])) for number, item in record["objects"].items()}
        assert names == {number: (o.name, sorted(o.attributes)) for number, o in graph.objects.items()}
    for record in json.loads((tmp_path / "imsitu" / "train.json").read_text()).values():
        assert record["frames"][0] == record["frames"][1] == record["frames"][2]


@pytest.mark.parametrize(
    ("rate", "what"),
    [
        ("missing_object", lambda graph: graph.nodes),
        ("missing_attribute", lambda graph: [a for node in graph.nodes.values() for a in node.attributes]),
        ("missing_relation", lambda graph: [e for e in graph.edges if e.name not in POSITIONS]),
        ("missing_position", lambda graph: [e for e in graph.edges if e.name in POSITIONS]),
    ],
)
def test_a_rate_is_the_share_that_is_left_out(scenes, rate, what):
    settings = SpritesSettings(**{**CAREFUL, rate: 0.3})
    if rate == "missing_object":
        settings = settings.model_copy(update={"missing_another": 0.3})
    plain = [scene for scene in scenes if not scene.verb]
    left = [careless(complete(scene), scene.image, settings, seed=2)[0] for scene in plain]
    full = sum(len(what(complete(scene))) for scene in plain)
    assert sum(len(what(graph)) for graph in left) / full == pytest.approx(0.7, abs=0.1)


def test_a_further_object_of_a_kind_is_left_out_more_often(scenes):
    settings = SpritesSettings(**{**CAREFUL, "missing_another": 1.0})
    for scene in (scene for scene in scenes if not scene.verb):
        graph, _ = careless(complete(scene), scene.image, settings, seed=2)
        names = [node.name for node in graph.nodes.values()]
        assert sorted(names) == sorted({thing.noun for thing in scene.things})


def test_a_rate_changes_nothing_that_another_one_leaves_out(scenes):
    few, more = SpritesSettings(), SpritesSettings(missing_attribute=0.4, wrong_name=0.3)
    for scene in scenes:
        if not scene.verb:
            graphs = [careless(complete(scene), scene.image, settings, seed=2)[1] for settings in (few, more)]
            assert set(graphs[0].nodes) == set(graphs[1].nodes)
            assert graphs[0].edges == graphs[1].edges


def test_wrong_annotations_are_not_true(scenes):
    settings = SpritesSettings(**{**CAREFUL, "wrong_relation": 1.0, "wrong_attribute": 1.0, "wrong_name": 1.0})
    changed = 0
    for scene in (scene for scene in scenes if not scene.verb):
        truth = complete(scene)
        missing, wrong = careless(truth, scene.image, settings, seed=2)
        assert missing == truth
        true = {(e.subject, name, e.target) for e in truth.edges for name in (e.name, *ENTAILS[e.name])}
        changed += sum((e.subject, e.name, e.target) not in true for e in wrong.edges)
        for key, node in wrong.nodes.items():
            assert node.name != truth.nodes[key].name
            assert not set(node.attributes) & set(truth.nodes[key].attributes)
    assert changed > 50


def test_truth_is_consistent(scenes):
    for scene in scenes:
        graph = complete(scene)
        assert SMALL.min_objects <= len(graph.nodes) <= SMALL.max_objects
        for node in graph.nodes.values():
            assert node.name in NOUNS
            groups = [GROUP_OF[value] for value in node.attributes]
            assert len(groups) == len(set(groups))
            x, y, w, h = node.box
            assert x >= 0 and y >= 0 and w >= 2 and h >= 2
            assert x + w <= scene.width and y + h <= scene.height
        edges = {(edge.subject, edge.name, edge.target) for edge in graph.edges}
        assert len(edges) == len(graph.edges)
        for subject, name, target in edges:
            assert subject != target and (name in ENTAILS or name in VERBS)
            if name == "next to":
                assert (target, "next to", subject) in edges
            if name == "behind":
                assert (target, "in front of", subject) in edges


def test_who_stands_near_on_the_ground_is_next_to(scenes):
    for scene in scenes:
        boxes = scene.boxes()
        pairs = {(link.subject, link.target) for link in scene.links if link.name == "next to"}
        for one, other in combinations(scene.ground, 2):
            (x, y, w, h), (x2, y2, w2, h2) = boxes[one], boxes[other]
            gap = max(x2 - (x + w), x - (x2 + w2))
            if 0 <= gap <= NEAR and abs(y + h - y2 - h2) <= 30:
                assert (one, other) in pairs and (other, one) in pairs


def test_boxes_are_tight_and_nothing_is_hidden_by_much(scenes):
    for scene in scenes[::3]:
        masks = [alpha([layer], scene) for layer in scene.layers]
        owner = np.full(masks[0].shape, -1)
        for layer, mask in zip(scene.layers, masks, strict=True):
            owner[mask] = -2 if layer.owner is None else layer.owner
        worn = {link.target: link.subject for link in scene.links if link.name == "wearing"}
        for thing in scene.things:
            layers = [mask for layer, mask in zip(scene.layers, masks, strict=True) if layer.owner == thing.number]
            drawn = np.logical_or.reduce(layers)
            ys, xs = np.nonzero(drawn)
            x, y, w, h = scene.boxes()[thing.number]
            edges = (xs.min() - x, ys.min() - y, x + w - xs.max() - 1, y + h - ys.max() - 1)
            assert all(abs(edge) < 1.5 for edge in edges), (scene.image, thing.noun, edges)
            own = [thing.number, *(cloth for cloth, person in worn.items() if person == thing.number)]
            hidden = 1 - np.isin(owner, own)[drawn].mean()
            assert hidden <= 0.36, (scene.image, thing.noun, hidden)


def test_the_lexicon_knows_all_that_annotators_write(world):
    lexicon = Lexicon.load(world / "lexicon.json")
    data = json.loads((world / "lexicon.json").read_text())
    for name in ("train", "val"):
        for record in json.loads((world / f"{name}_sceneGraphs.json").read_text()).values():
            for item in record["objects"].values():
                assert item["name"] in data["nouns"]
                assert all(lexicon.group(attribute) for attribute in item["attributes"])
                for relation in item["relations"]:
                    assert relation["name"] in data["relations"] or relation["name"].startswith("to the ")
    assert {"man", "woman", "boy", "girl", "child", "person"} == lexicon.entailed("noun", "person")
    assert {"cup", "mug"} == lexicon.entailed("noun", "mug")
    assert "riding" in lexicon.entailed("relation", "on")
    assert "on" not in lexicon.entailed("relation", "riding")
    assert lexicon.exclusive("noun", "man", "woman") > 0.5 > lexicon.exclusive("noun", "man", "person")
    assert lexicon.exclusive("noun", "cup", "vase") > 0.5 > lexicon.exclusive("noun", "sofa", "couch")
    assert lexicon.exclusive("attribute", "red", "blue") > 0.5 > lexicon.exclusive("attribute", "red", "large")
    assert lexicon.exclusive("relation", "holding", "wearing") > 0.5
    assert lexicon.exclusive("relation", "on", "riding") < 0.5
    assert not lexicon.countable("water")
