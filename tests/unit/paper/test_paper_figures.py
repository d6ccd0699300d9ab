"""Each of the paper's figures from our tables."""

import re
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text
from PIL import Image

from compvqa import plugins
from compvqa.covr.paper import drawing
from compvqa.covr.paper.composition import composition
from compvqa.covr.paper.figures import composition as figure1
from compvqa.covr.paper.figures import subgraph
from compvqa.covr.statistics import STATISTICS
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, make
from compvqa.errors import InputError
from compvqa.paper import figures, labels, style
from compvqa.paper.figures import accuracy, answers, training
from compvqa.paper.page import Page
from compvqa.paper.reference import load
from compvqa.paper.splits import read_splits
from compvqa.programs.rows import Row, to_json
from compvqa.scenes.graph import Object, Relation, SceneGraph
from compvqa.tables import write
from fixtures.paper_inputs import EFFECT_OF_M, NASTY
from fixtures.subgraphs import subgraphs

FOLDER = Path(__file__).resolve().parents[3] / "config" / "paper" / "covr"
FIGURES = sorted(path.stem for path in FOLDER.glob("*.yaml") if load(path).kind == "figure")


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_twice_with_the_same_bytes(world, tmp_path, name):
    made = []
    for folder in ("a", "b"):
        assert figures.make(FOLDER / f"{name}.yaml", world.inputs, tmp_path / folder / name)["out"] == 2
        made.append({p.name: p.read_bytes() for p in sorted((tmp_path / folder).iterdir())})
    assert made[0] == made[1]
    assert sorted(made[0]) == [f"{name}.pdf", f"{name}.png"]
    assert b"CreationDate" not in made[0][f"{name}.pdf"]
    with Image.open(tmp_path / "a" / f"{name}.png") as image:
        assert image.width > 600 and len(image.getcolors(1 << 20)) > 4


@pytest.mark.parametrize("name", FIGURES)
def test_no_figure_fails_when_there_is_nothing_to_show(nothing, tmp_path, name):
    assert figures.make(FOLDER / f"{name}.yaml", nothing, tmp_path / name)["out"] == 2


@pytest.mark.parametrize("name", ["figure4", "figure5"])
def test_no_line_of_the_grid_goes_through_what_the_paper_says(world, name):
    _, texts = drawn(name, world.inputs)
    notes = [text for text in texts if text.get_text().startswith("paper")]
    assert notes and all(text.get_path_effects() for text in notes)


def test_pieces_of_a_line_follow_each_other_as_if_they_were_one(tmp_path):
    """In the pixels that are saved: where the ink of the pieces is, and that of the whole."""
    words, ink = "How many images contain women that are holding a yellow ball?", []
    for pieces in ([words], re.findall(r"\S+\s*", words)):
        with style.applied():
            page = Page.new(0.5)
            page.write_pieces(0.2, 0.1, [(piece, style.INK) for piece in pieces], 11)
            style.save(page.figure, tmp_path / "line")
        with Image.open(tmp_path / "line.png") as image:
            ink.append(np.nonzero((np.asarray(image.convert("L")) < 128).any(axis=0))[0])
    whole, parts = ink
    assert len(whole) == len(parts) and abs(whole - parts).max() <= 1


def test_a_broken_history_is_named(tmp_path):
    (tmp_path / "history.parquet").write_bytes(b"")
    with pytest.raises(InputError, match="history.parquet is not a readable Parquet file"):
        training.read(tmp_path / "history.parquet")


def test_thirty_long_and_strange_answers_stay_on_the_page(tmp_path):
    named = {f"answer number {n} that is long": 400 - n for n in range(27)} | {NASTY: 5, "$x^2$": 4, "3": 900}
    rows = [{"stat": "answer", "part": "train", "item": item, "value": value} for item, value in named.items()]
    write(tmp_path / "statistics.parquet", STATISTICS, rows)
    with style.applied():
        figure = answers.make({"statistics": [tmp_path / "statistics.parquet"]}, load(FOLDER / "figure4.yaml"))
        style.save(figure, tmp_path / "figure4")
        figure.canvas.draw()
    labels = [label.get_window_extent() for label in figure.axes[0].get_xticklabels()]
    assert len(labels) == 30
    assert all(box.x0 >= 0 and box.y0 >= 0 for box in labels)
    heights = sorted((bar.get_x(), bar.get_height()) for bar in figure.axes[0].patches)
    assert [height for _, height in heights] == sorted(named.values(), reverse=True)


def test_bars_of_accuracy_are_the_means_over_seeds(world):
    with style.applied():
        figure = accuracy.make(world.inputs, load(FOLDER / "accuracy.yaml"))
    scores = pq.read_table(world.inputs["scores"][0]).to_pandas()
    scores = scores[(scores.split == "iid") & (scores.part == "dev") & scores.variant.isin(["text", "iid"])]
    scores = scores[(scores.model == "visualbert") & (scores.facet == "template")]
    scores = scores.assign(accuracy=scores.right / scores.n)
    expected = 100 * scores.groupby(["variant", "value"])["accuracy"].mean()
    assert sorted(bar.get_width() for bar in figure.axes[0].patches) == pytest.approx(sorted(expected))


def test_runs_that_differ_in_the_seed_share_a_name():
    names = [
        training.kind_of(Path("runs") / run / "history.parquet")
        for run in ("visualbert.iid.text.0", "visualbert.iid.text.12")
    ]
    assert names == ["visualbert.iid.text"] * 2
    assert training.kind_of(Path("runs/visualbert.has-num-3.comp.1/history.parquet")) == "visualbert.has-num-3.comp"


def test_wrong_input_is_one_clear_sentence(world, tmp_path):
    write(tmp_path / "history.parquet", STATISTICS, [])
    with pytest.raises(InputError, match="history.parquet is no history table: it lacks the column phase"):
        figures.make(FOLDER / "training.yaml", {"histories": [tmp_path / "history.parquet"]}, tmp_path / "t")
    with pytest.raises(InputError, match="describes a table, not a figure"):
        figures.make(FOLDER / "table6.yaml", world.inputs, tmp_path / "t")


def drawn(definition: str, inputs: dict):
    """A figure as matplotlib has it, and all texts in it."""
    wanted = load(FOLDER / f"{definition}.yaml")
    with style.applied():
        figure = plugins.find("compvqa.paper.figures", wanted.make, "make", "figure").make(inputs, wanted)
        figure.canvas.draw()
    return figure, [text for text in figure.findobj(Text) if text.get_text()]


def test_figure_2_tells_each_image_by_what_differs_in_it(world):
    _, texts = drawn("figure2", world.inputs)
    shown = [text.get_text() for text in texts]
    assert sum(text.startswith("(a)") for text in shown) == sum(text.startswith("(d)") for text in shown) == 1
    told = [text for text in shown if text.startswith(("(b)", "(c)"))]
    assert (
        len(told) == 4 and any("box → cone" in text for text in told) and any(text.startswith("(b)") for text in told)
    )
    assert any(text.startswith("answer: ") for text in shown) and any("WithRelation" in text for text in shown)


def test_figure_1_has_train_questions_and_a_test_question_of_one_split(world):
    figure, texts = drawn("figure1", world.inputs)
    shown = [text.get_text() for text in texts]
    assert "The split HAS-COUNT & HAS-ATTR" in shown
    split = next(split for split in read_splits(world.inputs, "zero-shot") if split.title == "HAS-COUNT & HAS-ATTR")
    example = composition(world.inputs, split)
    assert (shown.count("Train"), shown.count("Test")) == (len(example.train), 1)
    lines: dict[float, list[Text]] = {}
    for text in texts:
        lines.setdefault(text.get_position()[1], []).append(text)
    said = [
        "".join(text.get_text() for text in sorted(of, key=lambda one: one.get_position()[0])) for of in lines.values()
    ]
    asked = [re.fullmatch(r"Q: (.*)   A: (.*)", line) for line in said]
    rows = [*example.train, example.test]
    assert [match.groups() for match in asked if match] == [(row["text"], row["answer"]) for row in rows]
    for of in lines.values():  # pieces of a line follow each other
        ends = sorted((box.x0, box.x1) for box in (text.get_window_extent() for text in of))
        assert all(one[1] <= other[0] + 1 for one, other in pairwise(ends))
    assert len(figure.axes) == sum(len(row["scene_ids"]) for row in rows)


def test_figure_1_colours_what_train_questions_share_with_the_test_question_in_both():
    test = question("How many images with gray boxes that are next to a sofa?", "COUNT", "2")
    train = [
        question("How many sofas are near a box?", "COUNT", "1"),
        question("Is the gray glass a box?", "VERIFY", "true"),
    ]
    blue, purple = figure1.COLORS
    owner = figure1.owners(train, test)
    assert owner["ANS-NUM"] == blue and {name: owner[name] for name in owner if name.islower()} == {
        **dict.fromkeys(("how", "many", "sofa", "box"), blue), "gray": purple,
    }  # fmt: skip
    pieces = list(figure1.colored(test["text"], owner))
    assert "".join(text for text, _ in pieces) == test["text"]
    assert pieces[:4] == [("How many ", blue), ("images with ", style.INK), ("gray ", purple), ("boxes ", blue)]
    assert {figure1.stem(word) for word in ("glass", "Bus?", "dishes", "boxes", "dogs,", "is")} == {
        *("glass", "bus", "dish", "box", "dog", "is")
    }


def question(text, template, answer):
    program = to_json([Row("find", ("box",)), Row("count", (), (0,))])
    return {"text": text, "template": template, "answer": answer, "program": program, "tree": None, "properties": None}


BOXES = st.tuples(st.integers(0, 250), st.integers(0, 180), st.integers(8, 70), st.integers(8, 60))


@given(st.lists(BOXES, min_size=1, max_size=4), st.integers(1, 2))
def test_names_of_boxes_are_in_the_scene_and_over_no_box_where_there_is_room(things, named):
    boxes = things[:named]
    found = labels.places(boxes, [(30.0, 12.0)] * len(boxes), things, (0, 0, 320, 240))
    for x, y, w, h in found:
        assert x >= 0 and y >= 0 and x + w <= 320.001 and y + h <= 240.001
        for left, top, wide, high in things:  # at most four of 70 x 60 in a scene eighteen times as large
            assert min(x + w, left + wide) - max(x, left) <= 1e-6 or min(y + h, top + high) - max(y, top) <= 1e-6
    for one, other in combinations(found, 2):
        assert one[0] + 30 <= other[0] + 1e-6 or other[0] + 30 <= one[0] + 1e-6 or abs(one[1] - other[1]) >= 12 - 1e-6


def test_a_name_touches_its_box_or_a_line_leads_there():
    (label,) = labels.places([(100, 100, 40, 40)], [(30, 12)], [(100, 100, 40, 40)], (0, 0, 320, 240))
    assert label == (100, 88, 30, 12) and labels.leader(label, (100, 100, 40, 40)) == ((115, 100), (115, 100))
    worn = [(100, 60, 60, 150), (120, 120, 20, 20)]  # what is within another box is named beside that
    (label,) = labels.places(worn[1:], [(30, 12)], worn, (0, 0, 320, 240))
    start, end = labels.leader(label, worn[1])
    assert not 70 < label[0] < 160 and end[0] in (120, 140) and start != end


def test_figure_13_has_a_curve_a_split_over_m_with_0_on_it(world):
    figure, texts = drawn("figure13", world.inputs)
    scores = pq.read_table(world.inputs["scores"][0]).to_pandas()
    scores = scores[scores["variant"].str.startswith("m") & (scores["part"] == "dev_comp")]
    scores = scores.assign(accuracy=scores.right / scores.n)
    means = 100 * scores[scores["split"] == "ans_num"].groupby("variant")["accuracy"].mean()
    curves = {line.get_label(): dict(line.get_xydata()) for line in figure.axes[0].lines}
    assert set(curves) == {"ANS-NUM", "HAS-QUANT"}
    assert curves["ANS-NUM"] == pytest.approx({int(variant[1:]): mean for variant, mean in means.items()})
    places = figure.axes[0].transData.transform([(m, 0) for m in EFFECT_OF_M])[:, 0]
    assert EFFECT_OF_M[0] == 0 and all(after - before > 20 for before, after in pairwise(places))
    assert {"0", "50", "250", "1,000"} <= {text.get_text() for text in texts}


def test_bars_of_causes_add_up_to_the_share_of_invalid_questions(world):
    figure, _ = drawn("filters-invalid", world.inputs)
    measures = pq.read_table(world.inputs["filters"][0]).to_pandas()
    measures = measures[(measures["of"] == "questions") & (measures["group"] == "")]
    invalid = measures[measures["measure"] == "invalid"]["value"]
    ends = Counter()
    for bar in figure.axes[0].patches:
        if bar.get_facecolor()[3]:
            ends[round(bar.get_y(), 6)] += bar.get_width()
    assert sorted(ends.values()) == pytest.approx(sorted(100 * invalid))


def test_the_thresholds_are_marked_where_they_drop_what_they_drop(world):
    figure, texts = drawn("filters-roc", world.inputs)
    judged = pq.read_table(world.inputs["distractors"][0]).to_pandas()
    judged = judged[(judged["arm"] == "none-toy") & (judged["kind"] == "object")]
    false = judged["cause"] != ""
    marks = {tuple(line.get_xydata()[0]) for line in figure.axes[0].lines if len(line.get_xydata()) == 1}
    for tau in ("tau", "tau_paper"):
        dropped = judged["score"] > judged[tau]
        at = 100 * dropped[~false].mean(), 100 * dropped[false].mean()
        assert any(mark == pytest.approx(at) for mark in marks)
    wins = [(one > other) + (one == other) / 2 for one in judged["score"][false] for other in judged["score"][~false]]
    area = f"object: AUC {sum(wins) / len(wins):.3f} ({false.sum()} of {len(judged)} false)"
    assert area in [text.get_text() for text in texts]


@pytest.mark.parametrize("name", ["figure1", "figure2", "figure3", "figure13", "filters-invalid", "filters-roc"])
def test_nothing_leaves_the_page(world, name):
    figure, _ = drawn(name, world.inputs)
    width, height = figure.get_size_inches()
    all_of_it = figure.get_tightbbox()
    assert all_of_it.x0 >= 0 and all_of_it.x1 <= width
    assert all_of_it.y0 >= 0 and all_of_it.y1 <= height
    plt.close(figure)


MAN = make("man", "standing", (Edge("uncorking", make("wine bottle"), (Modifier("with", "corkscrew"),)),))
TREES = [make("man"), make("man", "standing"), make("man", None, (Edge("on", make("bed", "red")),)), MAN]


def test_figure_3_draws_the_papers_subgraph_with_all_its_nodes():
    nodes = [(node.kind, node.name) for node in drawing.walk(drawing.layout(MAN))]
    assert nodes == [
        *[("ROOT", ""), ("object", "man"), ("attribute", "standing"), ("relation", "uncorking")],
        *[("object", "wine bottle"), ("rel-mod", "with"), ("object", "corkscrew")],
    ]
    assert min(TREES, key=lambda g: subgraph.rank(g.json())) == MAN
    assert min(TREES[:3], key=lambda g: subgraph.rank(g.json())) == TREES[2]


@given(subgraphs())
def test_nodes_of_a_drawing_stay_apart_and_inside_it(g):
    root = drawing.layout(g)
    nodes = list(drawing.walk(root))
    assert len(nodes) == g.size + g.n_attributes + 1
    left, right, top, bottom = drawing.extent(root)
    for node in nodes:
        assert left < node.x - drawing.RADIUS and node.x + drawing.RADIUS < right
        assert top < node.y - drawing.RADIUS - drawing.NAME + 0.01 and node.y + drawing.RADIUS < bottom
    for one, other in combinations(nodes, 2):
        apart = abs(one.x - other.x) > 2 * drawing.RADIUS or abs(one.y - other.y) > 2 * drawing.RADIUS + drawing.NAME
        assert apart, (one, other)


def test_the_objects_that_a_subgraph_is_bound_to_are_boxed():
    things = {
        "1": Object("1", "man", {"standing": None}, (0, 0, 9, 9)),
        "2": Object("2", "wine bottle"),
        "3": Object("3", "corkscrew"),
        "4": Object("4", "man", {"standing": None}),
    }
    held = SceneGraph("w:1", things, (Relation("uncorking", "1", "2", (("with", "3"),)), Relation("near", "4", "2")))
    assert drawing.bound(held, MAN) == {"1", "2", "3"}
    assert drawing.bound(held, make("man", "standing")) in ({"1"}, {"4"})
    assert drawing.bound(held, make("man", "sitting")) == frozenset()
