"""The page of sample questions of a CLEVR test-bed: pictures with boxes, programs as graphs, and what they give."""

from html.parser import HTMLParser

import pytest

from compvqa.clevr.trace import called
from compvqa.paper.explorer import programs, questions
from compvqa.programs.rows import from_json
from compvqa.scenes.graph import SceneStore


class Page(HTMLParser):
    """The tags of a page, each with its attributes and those that it stands in, and its text."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.open, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs), tuple(self.open)))
        if tag not in ("meta", "img"):
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        self.text += data

    def all(self, tag: str, **having) -> list[dict]:
        return [a for t, a, _ in self.tags if t == tag and all(a.get(key) == value for key, value in having.items())]


def page_of(bed, out, **changed) -> Page:
    settings = questions.ExplorerSettings(part="val", questions=12)
    images = changed.get("images", {"clevr": bed.images})
    questions.make(bed.dataset, bed.scenes, images, out / "page.html", settings, seed=1)
    return Page((out / "page.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def page(bed, tmp_path_factory) -> Page:
    return page_of(bed, tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="module")
def shown(bed, page) -> list[dict]:
    """The questions on the page."""
    by_id = {row["question_id"]: row for row in bed.rows()}
    return [by_id[a["title"].removeprefix("question ")] for a in page.all("section")]


def test_each_question_has_its_picture_with_the_boxes_of_its_objects(bed, page, shown):
    assert len(page.all("img")) == len(shown) == 12
    graphs = [SceneStore(bed.scenes).graph(row["scene_ids"][0]) for row in shown]
    boxes = [a for a in page.all("rect") if "data-object" in a]
    assert len(boxes) == sum(len(graph.objects) for graph in graphs)
    wanted = {(key, *thing.box) for graph in graphs for key, thing in graph.objects.items()}
    assert {(a["data-object"], *(float(a[side]) for side in ("x", "y", "width", "height"))) for a in boxes} == wanted
    for graph in graphs:
        assert all(name in page.text for name in called(graph).values())


def test_each_program_is_drawn_with_a_box_a_function(page, shown):
    functions = sum(len(from_json(row["program"])) for row in shown)
    assert len(page.all("g", **{"class": "stop"})) == functions
    lines = sum(len(line.dependencies) for row in shown for line in from_json(row["program"]))
    assert len(page.all("path")) == lines


def test_rows_and_boxes_of_the_graph_know_the_objects_that_they_give(bed, page, shown):
    """As many of each as the programs give objects."""
    store, giving = SceneStore(bed.scenes), 0
    for row in shown:
        graph = store.graph(row["scene_ids"][0])
        ran = programs.run(row["program"], [graph], "clevr")
        for line, function in zip(ran, from_json(row["program"]), strict=True):
            if function.operation == "scene":
                assert set(line.objects) == set(graph.objects)
            elif function.operation in ("unique", "count", "exist"):
                assert len(line.objects) == (function.operation == "unique")
            giving += bool(line.objects)
    assert len([a for a in page.all("tr") if a.get("data-objects")]) == giving
    assert len([a for a in page.all("g") if a.get("data-objects")]) == giving


def test_an_object_is_found_however_long_the_value_is(bed):
    store = SceneStore(bed.scenes)
    ids = store.scenes["scene_id"].to_pylist()
    graph = max((store.graph(scene_id) for scene_id in ids), key=lambda graph: len(graph.objects))
    (line,) = programs.run('[["scene",[],[]]]', [graph], "clevr")
    assert len(line.objects) == len(graph.objects) > 8 and line.value.endswith(" …")


def test_the_page_needs_nothing_from_elsewhere(page):
    for _, attributes, _ in page.tags:
        assert all(attributes.get(name, "data:").startswith("data:") for name in ("src", "href"))
    assert len(page.all("script")) == 1


def test_scenes_without_pictures_are_sketched_by_their_boxes(bed, tmp_path):
    page = page_of(bed, tmp_path, images={})
    assert not page.all("img") and "22 scenes" not in page.text and "have no image here" in page.text
    assert not [a for a in page.all("rect") if "data-object" in a]


def test_questions_whose_program_answer_and_template_are_kept_back_are_shown(bed, other, tmp_path):
    rows = [row | {"program": None, "answer": None, "template": None} for row in bed.rows()]
    page = page_of(other(rows), tmp_path)
    assert len(page.all("section")) == 12
    assert {a["data-template"] for a in page.all("article")} == {"no template"}
    assert "The program is not known." in page.text and "not known" in page.text


def test_two_answers_to_one_text_stand_together_each_with_its_picture(bed, other, tmp_path):
    rows = [row for row in bed.rows() if row["part"] == "val"]
    one = next(row for row in rows if row["answer"] == "yes")
    two = next(row for row in rows if row["answer"] == "no" and row["scene_ids"] != one["scene_ids"])
    page = page_of(other([one, two | {key: one[key] for key in ("text", "template")}]), tmp_path)
    assert len(page.all("article")) == 1 and len(page.all("section")) == 2
    assert [a["title"] for a in page.all("section")] == [f"question {row['question_id']}" for row in (one, two)]
