"""The questions that the examples of pretraining amount to."""

import pytest

from compvqa.covr.language import LANGUAGE
from compvqa.covr.pretraining.asked import ASKED, FIELDS, asked
from compvqa.covr.pretraining.examples import Match, Matches, MatchExamples, read_known
from compvqa.covr.properties import COLUMNS, Question, predicate
from compvqa.covr.subgraphs.subgraph import Edge, make
from compvqa.covr.subgraphs.tables import OCCURRENCES, SUBGRAPHS
from compvqa.programs.rows import from_json
from compvqa.questions.dataset import LANGUAGE as NAMED
from compvqa.scenes.tables import OBJECTS, SCENES
from compvqa.tables import write
from compvqa.training.data import MASK

DOG, RED_DOG = make("dog").json(), make("dog", "red").json()
NEAR_RED = make("dog", None, (Edge("near", make("cat", "red")),)).json()


def asks(tree: str, label: int | str, images: int = 1) -> Question:
    (row,) = asked([Match("object", "", ("s:1",) * images, label, tree=tree)])
    return Question(row["template"], row["answer"], row["program"], row["tree"])


def test_the_columns_are_those_that_properties_look_at():
    assert tuple(FIELDS.names) == COLUMNS
    assert ASKED.metadata[NAMED] == LANGUAGE.name


@pytest.mark.parametrize("tree", [DOG, RED_DOG, NEAR_RED])
@pytest.mark.parametrize("images", [1, 3])
def test_to_tell_whether_there_is_any_is_not_to_count(tree, images):
    for label, answer in ((0, "false"), (6, "true")):
        (row,) = asked([Match("object", "", ("s:1",) * images, label, tree=tree, counted=False)])
        question = Question(row["template"], row["answer"], row["program"], row["tree"])
        assert LANGUAGE.check(question.program) == "truth value" and question.answer == answer
        assert predicate("not HAS-COUNT and not ANS-NUM and not TPL-COUNT")(question)
        assert predicate("HAS-ATTR")(question) == (tree != DOG)


@pytest.mark.parametrize("tree", [DOG, RED_DOG, NEAR_RED])
@pytest.mark.parametrize("images", [1, 3])
def test_to_tell_how_many_there_are_is_to_count(tree, images):
    question = asks(tree, 3, images)
    assert LANGUAGE.check(question.program) == "number"
    assert predicate("HAS-COUNT and ANS-3 and TPL-COUNT and not HAS-NUM")(question)
    assert predicate("HAS-ATTR")(question) == (tree != DOG)
    assert [row.operation for row in question.program[-2:]][0] == (
        "UniqueImages" if images > 1 else question.program[-2].operation
    )


@pytest.mark.parametrize(
    ("masked", "name", "held"),
    [
        (make(MASK, "red"), "dog", "ANS-NOUN and ANS-dog and LEXICAL-dog and HAS-ATTR-red"),
        (make("dog", MASK), "red", "ANS-ATTR and ANS-red and LEXICAL-dog and HAS-ATTR-red"),
        (make("dog", None, (Edge(MASK, make("cat")),)), "near", "LEXICAL-near and LEXICAL-cat and not HAS-ATTR"),
        (make("dog", None, (Edge("near", make("cat", MASK)),)), 'odd "red"', "ANS-ATTR and LEXICAL-near"),
    ],
)
def test_a_masked_name_is_asked_for(masked, name, held):
    question = asks(masked.json(), name)
    LANGUAGE.check(question.program)
    assert MASK not in question.program_json and name in question.names()
    assert predicate(f"{held} and not HAS-COUNT and not TPL-COUNT")(question)


def test_equal_examples_are_counted_in_one_row():
    examples = [Match("attribute", text, ("s:1",), 1, tree=RED_DOG) for text in ("a red dog", "red dogs", "red dogs")]
    examples += [Match("attribute", "a red dog", ("s:2",), 0, tree=RED_DOG)]
    assert sorted((row["answer"], row["n"]) for row in asked(examples)) == [("0", 1), ("1", 3)]


def test_which_of_several_images_have_it_is_asked_of_each():
    match = Match("attribute", "", ("s:1", "s:2", "s:3"), 6, tree=RED_DOG, counted=False, present=(True, False, True))
    rows = list(asked([match]))
    found = {(len(from_json(row["program"])), row["answer"]): row["n"] for row in rows}
    assert found == {(4, "true"): 1, (3, "true"): 2, (3, "false"): 1}  # one row more for the images together
    asks = [Question(row["template"], row["answer"], row["program"], row["tree"]) for row in rows]
    assert all(predicate("HAS-ATTR-red and not HAS-COUNT and not ANS-NUM")(question) for question in asks)


@pytest.fixture
def scenes(tmp_path):
    """Eight train scenes and eight others, a dog in each of the first four of both."""
    sides = [(f"{side}:{n}", side, n < 4) for side in ("train", "val") for n in range(8)]
    blank = {"source": "s", "width": 10, "height": 10}
    rows = [{"scene_id": of, "image": f"i:{of}", "split": side} | blank for of, side, _ in sides]
    write(tmp_path / "scenes.parquet", SCENES, [{name: row.get(name) for name in SCENES.fields.names} for row in rows])
    thing = {"object_id": "o", "name": "dog", "raw_name": "dog", "x": 1, "y": 1, "w": 2, "h": 2}
    objects = [{name: ({"scene_id": of} | thing).get(name) for name in OBJECTS.fields.names} for of, *_ in sides]
    write(tmp_path / "objects.parquet", OBJECTS, objects)
    dog = make("dog")
    told = {"subgraph_key": dog.key, "tree": DOG, "size": 1, "n_attributes": 0}
    write(tmp_path / "subgraphs.parquet", SUBGRAPHS, [{name: told.get(name) for name in SUBGRAPHS.fields.names}])
    found = [{"scene_id": of, "subgraph_key": dog.key, "root_id": "o"} for of, _, has in sides if has]
    write(
        tmp_path / "occurrences.parquet",
        OCCURRENCES,
        [{name: row.get(name) for name in OCCURRENCES.fields.names} for row in found],
    )
    return tmp_path


@pytest.mark.parametrize("hard", [0.0, 1.0])
def test_pretraining_draws_on_train_images_alone(scenes, hard):
    settings = MatchExamples(held_out=0.3, hard=hard)
    known = read_known(
        [scenes / "subgraphs.parquet"], [scenes / "occurrences.parquet"], scenes / "scenes.parquet", settings
    )
    near = {make("dog").key: {"0_name": {f"{side}:{n}" for side in ("train", "val") for n in range(4, 8)}}}
    maker = Matches(known, near, settings, 1)
    used = {image for part in (*maker.single(), *maker.several()) for match in part for image in match.images}
    assert {image.split(":")[1] for image in used} == {"train"} and used <= set(known.images)
    assert set(known.images) == {f"i:train:{n}" for n in range(8)}
