"""The examples of pretraining."""

from pathlib import Path

import numpy as np
import pytest

from compvqa.covr.pretraining.asked import asked
from compvqa.covr.pretraining.examples import Known, Match, Matches, MatchExamples, mask
from compvqa.covr.pretraining.training import right
from compvqa.covr.properties import Question, predicate
from compvqa.covr.subgraphs.subgraph import Edge, make
from compvqa.files import read_yaml
from compvqa.seeds import generator
from compvqa.training.data import MASK


def test_one_name_is_masked():
    subgraph = make("man", "old", (Edge("on", make("horse", "white")),))
    found = {mask(subgraph, generator(0, number))[1] for number in range(60)}
    assert found == {"man", "old", "on", "horse", "white"}
    masked, name = mask(subgraph, generator(0, 1))
    assert masked.json().count(MASK) == 1 and name not in masked.json().replace(MASK, "")


def test_a_count_is_right_if_it_tells_presence():
    scores = np.eye(3)[[0, 2, 1, 0]]
    assert right(scores, np.array([0, 1, 0, 2]), 3).tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    ("label", "named", "expected"),
    [
        (1, ("b",), [0, 1, 0, 0]),
        (2, ("a", "b"), [1, 1, 0, 0]),
        (1, ("lost",), [-1, -1, -1, -1]),  # in the image, but no region shows it
        (0, (), [0, 0, 0, 0]),
        ("red", (), [-1, -1, -1, -1]),  # a masked name says nothing of the regions
    ],
)
def test_a_text_is_about_the_regions_that_show_its_roots(label, named, expected):
    found = Match("object", "a dog", ("s:1",), label, named)
    assert found.about(["a", "b", None, "c"]) == expected


@pytest.fixture(params=[0, 1])
def made(request):
    """Examples of a world in which image n has the subgraph k where k divides n, and distractors are the next ones."""
    images = [f"s:{n:03}" for n in range(60)]
    trees = {key: (make(noun).json(), "object") for key, noun in enumerate(("dog", "cat", "horse"), 2)}
    roots = {key: {images[n]: ("o1",) * (n // key % 3 + 1) for n in range(0, 60, key)} for key in trees}
    known = Known(trees, roots, images, frozenset(images), {image: image for image in images})
    distractors = {key: {"root_name": {images[n + 1] for n in range(0, 59, key)}} for key in trees}
    return Matches(known, distractors, MatchExamples(held_out=0.2, filler=0, plural=0, counted="all"), request.param)


def key_of(found):
    return {"a dog": 2, "a cat": 3, "a horse": 4}[found.text]


def test_examples_of_one_image_tell_what_is_in_it(made):
    learnt, held_out = made.single()
    assert learnt and held_out
    for found in (*learnt, *held_out):
        (image,), key = found.images, key_of(found)
        assert found.label == len(made.known.roots[key].get(image, ()))
        assert found.named == made.known.roots[key].get(image, ())
    for key in (2, 3, 4):
        labels = [found.label > 0 for found in learnt if key_of(found) == key]
        assert sum(labels) == len(labels) / 2  # the text tells nothing


def test_examples_of_several_images_count_those_that_have_it(made):
    learnt, held_out = made.several()
    assert {len(found.images) for found in learnt} == {2, 3, 4, 5}
    assert len({found.label for found in learnt}) >= 5
    for found in (*learnt, *held_out):
        assert len(set(found.images)) == len(found.images)
        assert found.label == sum(image in made.known.roots[key_of(found)] for image in found.images)


def test_no_image_is_both_learnt_from_and_held_out(made):
    for learnt, held_out in (made.single(), made.several()):
        seen = {image for found in learnt for image in found.images}
        assert seen.isdisjoint(image for found in held_out for image in found.images)


@pytest.mark.parametrize("which", [True, False])
@pytest.mark.parametrize("counted", ["all", "plain", "none"])
def test_where_instances_are_not_counted_it_is_told_whether_there_are_any(counted, which):
    images = [f"s:{n:03}" for n in range(60)]
    trees = {2: (make("dog").json(), "object"), 3: (make("dog", "red").json(), "attribute")}
    roots = {key: {images[n]: ("o1",) * (n % 3 + 1) for n in range(0, 60, key)} for key in trees}
    known = Known(trees, roots, images, frozenset(images), {image: image for image in images})
    settings = MatchExamples(held_out=0.2, filler=0, plural=0, counted=counted, which=which)
    maker = Matches(known, {}, settings, 1)
    counting = {"all": {2, 3}, "plain": {2}, "none": set()}[counted]
    for number, (learnt, _) in enumerate((maker.single(), maker.several())):
        most = (settings.most_count, settings.most_images)[number]
        for found in learnt:
            key = {"a dog": 2, "a red dog": 3}[found.text]
            has = [roots[key].get(image, ()) for image in found.images]
            number_of = len(has[0]) if number == 0 else sum(map(bool, has))
            assert found.counted == (key in counting)
            assert found.label == (number_of if found.counted else bool(number_of) * (most + 1))
            assert found.label < settings.classes(most)
            assert found.present == (tuple(map(bool, has)) if which and number == 1 else ())
        for key in {2, 3} - counting:  # neither answer is rare
            labels = [match.label > 0 for match in learnt if match.tree == trees[key][0]]
            assert 0.25 < sum(labels) / len(labels) < (0.9 if which else 0.75)
    held = predicate("HAS-COUNT and HAS-ATTR")
    asks = [Question(row["template"], row["answer"], row["program"], row["tree"]) for row in asked(learnt)]
    assert any(map(held, asks)) == (counted == "all")


CONFIG = Path(__file__).resolve().parents[4] / "config"


@pytest.mark.parametrize("model", ["visualbert", "vilbert-tiny"])
def test_no_model_is_pretrained_on_what_a_named_split_holds_out(model):
    settings = MatchExamples(**read_yaml(CONFIG / f"models/{model}.yaml")["pretraining"]["examples"])
    matches = []
    for tree in (make("dog"), make("dog", "red"), make("dog", "red", (Edge("near", make("cat", "old")),))):
        counted, most = settings.counts(tree), settings.most_images + 1
        labels = range(most) if counted else (0, most)
        told = {"tree": tree.json(), "counted": counted}
        matches += [Match("", "", ("s:1",) * images, label, **told) for label in labels for images in (1, 3)]
        matches.append(Match("", "", ("s:1", "s:2"), 1, present=(True, False), **told))
    asks = [Question(row["template"], row["answer"], row["program"], row["tree"]) for row in asked(matches)]
    splits = [held for path in CONFIG.glob("splits/*.yaml") if (held := read_yaml(path).get("property"))]
    assert len(splits) > 15 and len(asks) == 12
    assert not [held for held in splits if any(map(predicate(held), asks))]
