"""CLEVR's programs in print with what each function gave, and the stories of questions that audits tell."""

import pytest
from rich.console import Console

from compvqa.clevr.trace import nouns, traced
from compvqa.errors import InputError
from compvqa.paper.explorer.questions import ExplorerSettings, make
from compvqa.provenance.audit import example
from compvqa.provenance.telling import story
from compvqa.scenes.graph import SceneStore
from fixtures.clevr_scenes import chain
from fixtures.clevr_testbed import BEHIND_CYLINDER, CUBE, PROGRAMS, clevr_testbed

SCENE = "clevr:CLEVR_val_0"


@pytest.fixture
def bed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return clevr_testbed(tmp_path)


def values(program, graph):
    return [value for *_, value in traced(program, [graph])]


def test_objects_are_told_in_words(bed):
    graph = SceneStore(bed / "scenes").graph(SCENE)
    assert values(PROGRAMS["one_hop_0"][1], graph) == [
        "small brown rubber cube 0, large gray rubber cylinder 1, large brown rubber cube 2",
        "large gray rubber cylinder 1",
        "large gray rubber cylinder 1",
        "large brown rubber cube 2",
        "large brown rubber cube 2",
        "large brown rubber cube 2",
        "brown",
    ]
    assert traced(PROGRAMS["one_hop_0"][1], [graph])[3][:3] == ("4", "relate", '◆ 3, "behind"')
    assert values(chain(("filter_color", "red"), ("exist",)), graph)[1:] == ["nothing", "no"]
    assert nouns(PROGRAMS["one_hop_0"][1]) == {"cylinder", "cube"}


def test_an_ill_posed_function_says_why_and_ends_the_values(bed):
    graph = SceneStore(bed / "scenes").graph(SCENE)
    program = chain(*CUBE, ("relate", "left"), ("count",))
    assert values(program, graph)[2:] == ["no answer: 2 objects, not one", "", ""]
    assert values(chain(("filter_shape", "sphere"), ("unique",), ("query_size",)), graph)[2] == (
        "no answer: 0 objects, not one"
    )


def test_an_example_leads_back_to_its_scene_and_what_analyses_say_of_it(bed):
    told = example("one_hop_0", bed / "dataset/questions.parquet")
    assert told["question"]["answer"] == told["again"] == "brown"
    assert told["splits"] == {"iid": "test"}
    assert told["facets"]["effective_size"] == "query 4" and told["facets"]["cogent"] == "query_color cube or cylinder"
    (scene,) = told["scenes"]
    assert (scene["scene_id"], scene["file"], scene["record"]) == (SCENE, "resources/clevr/scenes.json", 1)
    assert [step["stage"] for step in told["steps"]] == ["ingest", "scenes", "questions"]
    console = Console(width=200)
    with console.capture() as shown:
        console.print(story(told))
    text = shown.get()
    for words in (
        "question one_hop_0, one_hop_0, answer brown, test; in split iid: test",
        "type: query_color, kind: query, relationship: query spatial, size: query 7",
        f"{SCENE} (image clevr:CLEVR_val_0): record 1 of resources/clevr/scenes.json",
        "the scene asked about",
        "large brown rubber cube 2",
        "run again now, the program gives brown",
    ):
        assert words in text
    with pytest.raises(InputError, match="the dataset has no question 'none'"):
        example("none", bed / "dataset/questions.parquet")


def test_the_page_of_sample_questions_shows_each_functions_value(bed, tmp_path):
    settings = ExplorerSettings(part="test", questions=6)
    counts = make(bed / "dataset/questions.parquet", bed / "scenes", {}, tmp_path / "page.html", settings, 1)
    page = (tmp_path / "page.html").read_text()
    assert counts["out"] == 6 and "large gray rubber cylinder 1" in page and "relate" in page


def test_the_cylinder_has_one_cube_behind_it(bed):
    graph = SceneStore(bed / "scenes").graph(SCENE)
    assert values(chain(*BEHIND_CYLINDER, ("count",)), graph)[-1] == "1"
