"""The page of sample questions and the page of all results."""

import base64
import io
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from compvqa.covr.questions.references import condition_rows
from compvqa.paper import figures, tables
from compvqa.paper.explorer import contents, index, pictures, questions
from compvqa.paper.explorer.programs import lines, run
from compvqa.paper.explorer.sample import sample
from compvqa.paper.reference import load
from compvqa.programs.printed import show
from compvqa.programs.rows import Row, from_json, to_json, walk
from compvqa.scenes.graph import Object, SceneGraph, SceneStore
from compvqa.scenes.images import find_image
from fixtures.paper_inputs import NASTY, NOUNS, program

PROJECT = Path(__file__).resolve().parents[3]


class Page(HTMLParser):
    """What a test asks of a page: its tags with their attributes, and its text."""

    def __init__(self, path: Path):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def all(self, tag: str, css: str | None = None) -> list[dict]:
        return [a for t, a in self.tags if t == tag and (css is None or css in (a.get("class") or "").split())]


@pytest.fixture(scope="module")
def page(world, tmp_path_factory) -> Page:
    out = tmp_path_factory.mktemp("page") / "sample_questions.html"
    counts = questions.make(
        world.dataset, world.scenes, {"sprites": world.images}, out, questions.ExplorerSettings(), seed=0
    )
    assert counts["out"] == 40
    return Page(out)


@pytest.mark.parametrize("count", [1, 7, 40, 1000])
def test_templates_take_turns_and_pairs_stay_together(world, count):
    groups = sample(world.dataset, "dev", count, seed=0)
    shown = sum(len(group.questions) for group in groups)
    assert shown == min(60, shown) and (count <= shown <= count + 1 or shown == 60)
    per_template = Counter(group.template for group in groups)
    assert max(per_template.values()) - min(per_template.values()) <= 1 or shown == 60
    for group in groups:
        assert {question["text"] for question in group.questions} == {group.text}
        assert len({question["answer"] for question in group.questions}) == len(group.questions) == 2


def test_the_choice_depends_on_the_seed_and_not_on_other_parts(world, tmp_path):
    alone = tmp_path / "dev.parquet"
    pq.write_table(pq.read_table(world.dataset, filters=[("part", "=", "dev")]), alone)
    texts = [[group.text for group in sample(world.dataset, "dev", 10, seed)] for seed in range(4)]
    assert len({tuple(t) for t in texts}) > 1
    assert [group.text for group in sample(alone, "dev", 10, seed=0)] == texts[0]


def test_the_page_shows_both_answers_all_images_and_the_start_scene(page, world):
    assert len(page.all("article", "card")) == 20
    assert len(page.all("section", "side")) == 40
    by_id = {row["question_id"]: row for row in pq.read_table(world.dataset).to_pylist()}
    shown = [by_id[side["title"].removeprefix("question ")] for side in page.all("section", "side")]
    assert len(page.all("figure")) == sum(len(row["scene_ids"]) for row in shown)
    starts = [figure["title"] for figure in page.all("figure", "start")]
    assert starts == [row["start_scene"] for row in shown]


def test_the_page_is_self_contained(page):
    for _, attributes in page.tags:
        for name in ("src", "href"):
            assert attributes.get(name, "data:").startswith("data:")
    assert len(page.all("script")) == 1


def test_the_filter_names_every_template_of_the_page(page):
    buttons = {button["data-show"] for button in page.all("button")}
    assert buttons == {"", *(card["data-template"] for card in page.all("article", "card"))}


def test_each_side_shows_what_its_programs_rows_gave(page, world):
    assert len(page.all("details")) == len(page.all("section", "side"))
    by_id = {row["question_id"]: row for row in pq.read_table(world.dataset).to_pylist()}
    sides = [side["title"].removeprefix("question ") for side in page.all("section", "side")]
    rows = sum(len(lines(by_id[side]["program"])) for side in sides)
    assert len(page.all("td", "value")) == rows


def test_rows_that_were_run_have_their_values_and_a_sub_programs_rows_none():
    things = {"1": Object("1", "boy", {"happy": None}), "2": Object("2", "boy")}
    rows = [Row("Find", ("boy",)), Row("All", (condition_rows("happy", ()),), (0,))]
    shown = run(to_json(rows), [SceneGraph("w:1", things)], "covr")
    assert [(line.index, line.value) for line in shown] == [
        *[("1", "w:1: boy 1, boy 2"), ("2", "false"), ("2.1", ""), ("2.2", ""), ("2.3", "")],
    ]
    assert [replace(line, value="") for line in shown] == list(lines(to_json(rows)))
    crowd = SceneGraph("w:2", {str(number): Object(str(number), "boy") for number in range(100)})
    assert len(run(to_json(rows[:1]), [crowd], "covr")[0].value) < 250


def test_strange_names_never_become_markup(page):
    assert NASTY in page.text
    assert "b" not in {tag for tag, _ in page.tags}


def test_scenes_without_images_are_sketched_or_told(page):
    assert page.all("svg") and page.all("img") and page.all("li")


def test_a_page_without_questions_says_so(world, tmp_path):
    out = tmp_path / "empty.html"
    settings = questions.ExplorerSettings(part="nowhere")
    assert questions.make(world.dataset, world.scenes, {}, out, settings, seed=0)["out"] == 0
    told = "There are no questions in nowhere: write dev or test or train as samples.part of the config."
    assert told in " ".join(Page(out).text.split())


def test_the_page_is_the_same_each_time(world, tmp_path):
    made = []
    for name in ("a", "b"):
        settings = questions.ExplorerSettings(questions=6)
        questions.make(world.dataset, world.scenes, {"sprites": world.images}, tmp_path / name, settings, seed=3)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]


@pytest.mark.parametrize("template", ["COUNT", "VERIFYCOUNT", "VERIFYQUANT", "QUERYATTR"])
def test_a_program_is_listed_row_by_row_as_it_is_printed(template):
    rows = program(template, "ball", "red")
    listed = lines(to_json(rows))
    assert [line.operator for line in listed] == [row.operation for row in walk(rows)]
    printed = [text.split()[:2] for text in show(from_json(to_json(rows))).splitlines()[1:]]
    assert [[line.index, line.operator] for line in listed] == printed


def test_dependencies_are_counted_from_one_and_words_are_told_from_numbers():
    listed = lines(to_json([Row("Find", ("book",)), Row("Count", (), (0,)), Row("geq", (2,), (1,))]))
    assert listed[0].arguments == (("book", "word"),)
    assert listed[1].arguments == (("1", "row"),)
    assert listed[2].arguments == (("2", "row"), ("2", "number"))


@given(st.integers(1, 900), st.integers(1, 900), st.integers(50, 400))
def test_embedded_images_keep_their_shape_within_the_limit(tmp_path_factory, width, height, most):
    path = tmp_path_factory.mktemp("image") / "x.png"
    Image.new("RGB", (width, height), "red").save(path, compress_level=1)
    kind, _, data = pictures.embed(path, most).partition(",")
    assert kind == "data:image/jpeg;base64"
    with Image.open(io.BytesIO(base64.b64decode(data))) as small:
        assert max(small.size) <= most
        if max(width, height) <= most:
            assert small.size == (width, height)


def test_a_sketch_marks_the_objects_that_the_question_names(world):
    graph = SceneStore(world.scenes).graph("sprites:000")
    names = {thing.name for thing in graph.objects.values()}
    chosen = min(names & set(NOUNS))
    drawn = pictures.sketch(graph, 320, 240, frozenset([chosen]))
    assert {box.name for box in drawn.boxes} == names
    assert {box.name for box in drawn.boxes if box.named} == {chosen}
    assert drawn.boxes[-1].name == chosen  # drawn last, over the others


def test_images_are_found_by_their_image_space(world):
    assert find_image("sprites:001", {"sprites": world.images}) == world.images / "001.png"
    assert find_image("vg:001", {"sprites": world.images}) is None
    assert find_image("sprites:nothing", {"sprites": world.images}) is None


def test_the_results_page_holds_what_was_made_and_links_to_its_files(world, tmp_path):
    definitions = [PROJECT / f"config/paper/covr/{name}.yaml" for name in ("table7", "figure5", "table6")]
    tables.make(definitions[0], world.inputs, tmp_path / "table7")
    figures.make(definitions[1], world.inputs, tmp_path / "figure5")
    out, above = tmp_path / "index.html", tmp_path.parent / "sample_questions.html"
    above.write_text("<title>Sample &amp; more</title>")
    counts = index.make(definitions, tmp_path, out, "COVR", [above])
    assert counts == {"in": 3, "out": 2, "dropped: not made": 1}
    page = Page(out)
    links = {a["href"] for a in page.all("a") if not a["href"].startswith("#")}
    assert links == {
        *("table7.csv", "table7.tex", "table7.html", "figure5.png", "figure5.pdf", "../sample_questions.html")
    }
    assert all((tmp_path / link).is_file() for link in links)
    assert "Sample & more →" in page.text
    assert "HAS-NUM-3" in page.text and "Few-shot splits, as in Table 7" in page.text
    assert page.all("img")[0]["src"].startswith("data:image/png;base64,")


@pytest.mark.parametrize(
    ("titles", "shown"),
    [
        (["Mine", "Sample questions"], ["All tables and figures", "Sample questions"]),
        (["Mine: covr", "Mined"], ["covr", "Mined"]),
    ],
)
def test_contents_say_of_pages_of_their_own_title_what_these_add(tmp_path, titles, shown):
    pages = [tmp_path / f"{number}.html" for number, _ in enumerate(titles)]
    for page, title in zip(pages, titles, strict=True):
        page.write_text(f"<title>{title}</title>")
    contents.make(pages, tmp_path / "index.html", "Mine")
    assert re.findall("(?s)<a [^>]*>(.*?) →", (tmp_path / "index.html").read_text()) == shown


def test_a_page_of_contents_links_to_pages_in_the_given_order_by_their_titles(tmp_path):
    made = {"b/index.html": "<title>B &amp; &lt;b&gt;</title>", "a.html": "no title", "../c.html": "<title>C</title>"}
    for name, text in made.items():
        (tmp_path / "pages" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pages" / name).write_text(text)
    out = tmp_path / "pages/index.html"
    report = ("Report of <b>", tmp_path / "report.html")
    assert contents.make([tmp_path / "pages" / name for name in made], out, "All & more", [report])["out"] == 4
    page = Page(out)
    assert [a["href"] for a in page.all("a")] == [*made, "../report.html"] and not page.all("b")
    assert [line for line in page.text.splitlines() if "→" in line] == ["B & <b> →", "a →", "C →", "Report of <b> →"]


def test_what_is_not_comparable_stands_last_under_a_heading(world, tmp_path):
    names = ["covr-submission/table7", "covr/table6", "covr/figure4"]
    definitions = [PROJECT / f"config/paper/{name}.yaml" for name in names]
    for path, make in zip(definitions, (tables.make, tables.make, figures.make), strict=True):
        make(path, world.inputs, tmp_path / path.stem)
    index.make(definitions, tmp_path, tmp_path / "index.html", "COVR")
    page = (tmp_path / "index.html").read_text()
    assert re.findall(r'<section id="(.*?)">', page) == ["table6", "figure4", "table7"]
    assert page.index('<h1 class="heading">') < page.index('<section id="table7">')
    assert page.count('<h1 class="heading">') == 1
    assert re.findall(r"<b>(.*?)</b>", page) == ["Tables", "Figures", "Not comparable"]


def test_every_table_and_figure_has_a_short_caption_of_plain_sentences():
    for path in (PROJECT / "config" / "paper").glob("*/*.yaml"):
        caption = load(path).caption
        assert 40 < len(caption) < 420 and caption.endswith(".")
        assert not re.search(r"[*`_|]{2}|::|\\", caption)
