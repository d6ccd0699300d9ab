"""What accuracy is told by beside template and property: the facets of the questions' language."""

import pyarrow as pa
import pytest

from compvqa.covr import facets as covr_facets
from compvqa.errors import InputError
from compvqa.evaluation.facets import facets_of, look_at_scenes
from compvqa.programs.facets import Facet
from compvqa.records.digest import closure
from compvqa.scenes import asked
from compvqa.stages import modules_of
from fixtures.scored import ANSWERS, Scored
from unit.covr.questions.question_worlds import write_world


@pytest.fixture
def world(tmp_path) -> Scored:
    return Scored(tmp_path)


def test_covrs_facets_are_size_images_and_operator(world):
    rows = facets_of(world.dataset, pa.array(["q0", "q2", "q3"]), ("size", "images", "operator")).to_pylist()
    found = {(row["question_id"], row["facet"]): row["value"] for row in rows}
    assert {key: value for key, value in found.items() if key[1] not in ("template", "property")} == {
        ("q0", "size"): "4",
        ("q0", "images"): "2",
        ("q0", "operator"): "VerifyAttribute",
        ("q2", "size"): "2",
        ("q2", "images"): "1",
        ("q2", "operator"): "Count",
        ("q3", "size"): "3",
        ("q3", "images"): "1",
        ("q3", "operator"): "QueryAttribute",
    }


def test_scores_have_rows_of_the_facets_that_are_named_and_of_no_others(world):
    world.predict("vb.iid.iid.1", ANSWERS | {"q4": "false"})
    plain = world.scores()
    assert {row["facet"] for row in plain} == {"all", "template", "property"}
    rows = world.scores(facets=["images"])
    found = {(row["split"], row["part"], row["value"]): (row["right"], row["n"]) for row in rows if row not in plain}
    assert [row for row in rows if row["facet"] != "images"] == plain
    assert found == {
        ("iid", "dev", "2"): (2, 2),
        ("iid", "test", "1"): (2, 3),
        ("some", "dev_comp", "2"): (1, 1),
        ("some", "test_comp", "1"): (1, 2),
    }


def test_a_facet_that_the_language_has_not_is_refused_with_those_there_are(world):
    world.predict("vb.iid.iid.1", ANSWERS)
    with pytest.raises(
        InputError, match="^the language covr has no facet 'images2': name some of size, images, operator in scores"
    ):
        world.score(facets=["size", "images2"])


def test_no_language_names_a_facet_as_those_that_are_always_told():
    assert not {"all", "template", "property"} & {facet.name for facet in covr_facets.FACETS}


def test_the_code_that_scores_covr_has_nothing_of_another_language():
    modules = closure(*modules_of("scores", language="covr", contrast=["generalization"]))
    assert "compvqa.covr.facets" in modules
    assert not [name for name in modules if name.startswith("compvqa.clevr")]


def test_scenes_are_read_only_if_a_facet_looks_at_them(world, tmp_path, monkeypatch):
    def most_objects(question):
        return max((len(graph.objects) for graph in question.scenes), default=None)

    crowd = Facet("crowd", "objects in the fullest scene", most_objects, scenes=True)
    monkeypatch.setattr(covr_facets, "FACETS", (*covr_facets.FACETS, crowd))
    assert look_at_scenes("covr", ["size", "crowd"]) and not look_at_scenes("covr", ["size"])
    one = pa.array(["q5"])
    with pytest.raises(InputError, match="the facet crowd looks at the questions' scenes: give the folder of their"):
        facets_of(world.dataset, one, ["crowd"])
    write_world(tmp_path, 3, 1)
    scenes = tmp_path / "scenes/scenes.parquet"
    opened = []
    monkeypatch.setattr(asked, "SceneStore", lambda path: opened.append(path))
    facets_of(world.dataset, one, ["size"], scenes)
    assert not opened
    with pytest.raises(AttributeError):
        facets_of(world.dataset, one, ["crowd"], scenes)
    assert opened == [scenes.parent]
