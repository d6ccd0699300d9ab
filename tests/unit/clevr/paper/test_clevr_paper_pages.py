"""CLEVR's tables and figures from a small test-bed, counted again by plain loops over its rows."""

from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from PIL import Image

from compvqa.clevr.effective import effective as smallest
from compvqa.clevr.executor import values
from compvqa.clevr.facets import FACETS
from compvqa.clevr.language import OPERATORS
from compvqa.clevr.paper import counts, world
from compvqa.clevr.paper.examples import Scenery, of_shape, sorts_of_one_scene
from compvqa.clevr.paper.figures import effective, examples, guide, sample, statistics
from compvqa.clevr.paper.world import attributes
from compvqa.clevr.scene import of_graph
from compvqa.errors import InputError
from compvqa.paper import figures, style, tables
from compvqa.paper.claims import VERDICTS
from compvqa.paper.figures import panels as panels_figure
from compvqa.paper.panels import panels
from compvqa.paper.reference import load
from compvqa.paper.tables.findings import MISSING
from compvqa.programs.rows import from_json
from compvqa.scenes.graph import SceneStore
from fixtures.paper_tables import PAPERS, rows_of

FOLDER = PAPERS / "clevr"
PAGES = {path.stem: load(path) for path in sorted(FOLDER.glob("*.yaml"))}
TABLES = [name for name, page in PAGES.items() if page.kind == "table"]
FIGURES = [name for name, page in PAGES.items() if page.kind == "figure"]
# One page of each module, and of panels one with numbers besides: others are made by the same code.
MADE = {(page.kind, page.make, "number_after" in str(page.options)): name for name, page in PAGES.items()}
SOME = sorted(MADE.values())
INPUTS = ("dataset", "scenes", "images", "scores", "contrasts")


def words_of(module, inputs) -> list[str]:
    """The texts in a figure that a module draws."""
    with style.applied():
        figure = module.make(inputs, None)
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def test_there_is_a_page_of_every_figure_of_the_paper():
    assert {f"figure{number}" for number in range(1, 12)} == set(FIGURES) - {"examples"}
    assert {"sizes", "accuracy", "findings"} < set(TABLES)
    others = {f"{name}.csv" for name in TABLES}
    assert all(set(page.inputs) <= {*INPUTS} | others for page in PAGES.values())


def test_what_pages_tell_accuracies_by_is_a_facet_of_the_language():
    told = {panel.facet for page in PAGES.values() if page.make == "panels" for panel in panels(page)}
    assert told - {"all"} <= {facet.name for facet in FACETS}
    assert {"type", "relationship", "topology", "size", "effective_size", "relates", "cogent"} < told


@pytest.mark.parametrize("name", SOME)
def test_every_page_is_made_twice_with_the_same_bytes(bed, tmp_path, name):
    maker = tables if name in TABLES else figures
    made = []
    for folder in ("a", "b"):
        maker.make(FOLDER / f"{name}.yaml", bed.inputs, tmp_path / folder / name)
        made.append({path.name: path.read_bytes() for path in sorted((tmp_path / folder).iterdir())})
    assert made[0] == made[1]


@pytest.mark.parametrize("name", [name for name in SOME if name in FIGURES])
def test_every_figure_is_a_picture(bed, tmp_path, name):
    figures.make(FOLDER / f"{name}.yaml", bed.inputs, tmp_path / name)
    with Image.open(tmp_path / f"{name}.png") as image:
        assert image.width > 600 and len(image.getcolors(1 << 22)) > 50


def test_the_effective_question_gives_the_same_answer_by_less(bed):
    shown = words_of(effective, bed.inputs)
    (text,) = [row for row in bed.rows() if row["text"] in {" ".join(words.split()) for words in shown}]
    sizes = [int(words.split()[0]) for words in shown if words.endswith(" functions")]
    scene = of_graph(SceneStore(bed.scenes).graph(text["scene_ids"][0]))
    program = from_json(text["program"])
    assert sizes == [len(program), len(smallest(program, scene, values(program, scene)[-1]))] and sizes[1] < sizes[0]
    assert text["answer"] in shown


def test_the_examples_tell_answer_type_and_size(bed):
    shown = words_of(examples, bed.inputs)
    rows = {row["text"]: row for row in bed.rows()}
    found = [rows[text] for words in shown if (text := " ".join(words.split())) in rows]
    assert len({row["scene_ids"][0] for row in found}) == 6 and len(found) == 18
    for row in found:
        program = from_json(row["program"])
        assert f"{program[-1].operation}, size {len(program)}" in shown and row["answer"] in shown


def test_a_model_that_knows_all_is_right_everywhere_and_above_all_others(bed, tmp_path):
    for name, row in rows_of("accuracy", bed.inputs, tmp_path, "clevr").items():
        assert float(row["Executor"]) == float(row["Executor high"]) == 100 > float(row["Executor low"]), name
    for row in rows_of("accuracy-above", bed.inputs, tmp_path, "clevr").values():
        assert float(row["Executor"]) >= float(row["CNN+LSTM+SA"])


def test_a_page_counts_what_the_questions_of_its_panels_are(bed, tmp_path):
    rows = rows_of("figure4-table", bed.inputs, tmp_path, "clevr")
    types = Counter(from_json(row["program"])[-1].operation for row in bed.rows() if row["part"] == "val")
    assert rows["Exist and count: count"]["Questions"] == str(types["count"])
    assert rows["Query attribute: shape"]["Questions"] == str(types["query_shape"])
    assert sum(int(row["Questions"]) for row in rows.values()) == types.total()
    sizes = rows_of("figure7-table", bed.inputs, tmp_path, "clevr")
    asked = {which: 0 for which in ("Actual size", "Effective size", "Effective size, one cut")}
    for name, row in sizes.items():
        asked[name.partition(": ")[0]] += int(row["Questions"] or 0)
    assert len(set(asked.values())) == 1 and asked["Actual size"] > 0
    assert float(rows["Query attribute: color"]["LSTM (paper)"]) == 12.5


def findings_of(bed, tmp_path) -> dict[str, dict[str, str]]:
    """The findings, from the tables that they read."""
    made = {}
    for name in PAGES["findings"].inputs:
        tables.make(FOLDER / name.replace(".csv", ".yaml"), bed.inputs, tmp_path / name.removesuffix(".csv"))
        made[name] = [tmp_path / name]
    return rows_of("findings", made, tmp_path, "clevr")


def test_no_finding_contradicts_the_numbers_that_the_paper_prints(other, tmp_path):
    rows = findings_of(other([]), tmp_path)
    told = Counter(row["By the paper's numbers"] for row in rows.values())
    assert set(told) == {"fits", ""} and told["fits"] >= 14
    assert {row["Here"] for row in rows.values()} == {"not measured"}
    assert len(rows) == len(PAGES["findings"].facts)


def test_findings_are_told_by_our_numbers(bed, tmp_path):
    rows = findings_of(bed, tmp_path)
    told = Counter(row["Here"].partition(" (")[0] for row in rows.values())
    assert set(told) <= {*VERDICTS, MISSING} and told.total() - told[MISSING] >= 15  # few questions are trees
    row = rows["Every other model is below SA where attributes are queried"]
    way = "points the other way (CNN+LSTM+MCB, "  # so few are asked that it is not sure
    assert row["Here"].startswith(way) and row["Here"].endswith("of 20 numbers)")


@pytest.mark.parametrize("name", SOME)
def test_no_page_fails_without_questions_or_pictures(other, tmp_path, name):
    inputs = {key: paths for key, paths in other([]).inputs.items() if not key.startswith("images")}
    maker = tables if name in TABLES else figures
    assert maker.make(FOLDER / f"{name}.yaml", inputs, tmp_path / name)


@pytest.mark.parametrize("name", [name for name in SOME if "dataset" in PAGES[name].inputs])
def test_no_page_fails_where_programs_and_answers_are_kept_back(bed, other, tmp_path, name):
    kept = {"part": "test", "program": None, "answer": None, "template": None}
    inputs = other([row | kept for row in bed.rows()[:20]]).inputs
    maker = tables if name in TABLES else figures
    assert maker.make(FOLDER / f"{name}.yaml", inputs, tmp_path / name)


def test_sizes_are_those_of_the_parts_and_of_all(bed, tmp_path):
    rows, asked = rows_of("sizes", bed.inputs, tmp_path, "clevr"), bed.rows()
    train = {row["text"] for row in asked if row["part"] == "train"}
    for label, part in (("Train", "train"), ("Validation", "val"), ("All", None)):
        here = [row for row in asked if part in (None, row["part"])]
        assert rows[label]["Questions"] == str(len(here))
        assert rows[label]["Images"] == str(len({row["scene_ids"][0] for row in here}))
        assert rows[label]["Unique questions"] == str(len({row["text"] for row in here}))
    seen = [row for row in asked if row["part"] == "val" and row["text"] in train]
    assert rows["Validation"]["Questions that train has too"] == str(len(seen))
    assert rows["Train"]["Questions that train has too"] == rows["All"]["Questions that train has too"] == ""
    assert rows["All"]["Unique questions (paper)"] == "853,554"
    assert list(rows) == ["Train", "Validation", "All"]


def test_a_question_that_train_has_too_is_counted_in_other_parts_alone(bed, other):
    first, second, third = bed.rows()[:3]
    again = [
        first | {"part": "train", "text": "a?"},
        second | {"part": "test", "text": "a?"},
        third | {"part": "test", "text": "b?"},
    ]
    found = counts.sizes(other(again).dataset)
    assert (found["train"].in_train, found["test"].in_train, found[counts.ALL].in_train) == (None, 1, None)
    assert found[counts.ALL].texts == 2
    without = other([row | {"part": "test"} for row in again])
    assert counts.sizes(without.dataset)["test"].in_train is None


def test_types_are_those_of_the_last_functions_with_their_answers(bed, tmp_path):
    made = rows_of("types", bed.inputs, tmp_path, "clevr")
    of: dict[str, list[dict]] = {}
    for row in bed.rows():
        of.setdefault(from_json(row["program"])[-1].operation, []).append(row)
    assert set(made) == set(of)
    for name, rows in of.items():
        answers = Counter(row["answer"] for row in rows)
        assert made[name]["Questions"] == str(len(rows))
        assert made[name]["Templates"] == str(len({row["template"] for row in rows}))
        assert made[name]["Answers"] == str(len(answers))
        assert answers[made[name]["Most frequent answer"]] == max(answers.values())
        assert float(made[name]["Its share (%)"]) == pytest.approx(100 * max(answers.values()) / len(rows), rel=1e-4)
    assert made["query_color"]["Its share (%) (paper)"] == "12.5"


def test_functions_are_counted_once_a_question(bed, tmp_path):
    made = rows_of("functions", bed.inputs, tmp_path, "clevr")
    assert list(made) == list(OPERATORS)
    found = Counter(name for row in bed.rows() for name in {line.operation for line in from_json(row["program"])})
    assert {name: int(row["Questions"]) for name, row in made.items()} == {name: found[name] for name in OPERATORS}
    assert made["relate"]["Takes"] == "object, relation" and made["scene"]["Takes"] == "nothing"


def test_lengths_are_numbers_of_words(bed):
    found = counts.lengths(bed.dataset)
    told = Counter((row["part"], len(row["text"].split())) for row in bed.rows())
    assert {(part, words): n for part, of in found.items() for words, n in of.items()} == told
    assert list(found) == ["train", "val"]


def test_the_figure_of_statistics_tells_numbers_and_means(bed):
    shown = words_of(statistics, bed.inputs)
    words = [len(row["text"].split()) for row in bed.rows() if row["part"] == "val"]
    assert f"Validation: n = {len(words)}, mean {sum(words) / len(words):.1f}" in shown
    assert f"Types of questions (n = {len(bed.rows())})" in shown


def test_the_sample_picture_has_questions_of_its_own_that_test_different_things(bed):
    found = sorts_of_one_scene(bed.dataset, Scenery.of(bed.inputs))
    assert len(found) >= 3
    assert len({question.scene_id for question in found.values()}) == 1
    assert len({question.question_id for question in found.values()}) == len(found)
    for sort, question in found.items():
        functions = {row.operation for row in from_json(question.program)}
        last = from_json(question.program)[-1].operation
        assert {
            "attribute identification": last.startswith("query_"),
            "counting": last == "count",
            "comparison": last in ("less_than", "greater_than") or last.startswith("equal_"),
            "spatial relationships": "relate" in functions,
            "logical operations": bool(functions & {"union", "intersect"}),
        }[sort]
    shown = " ".join(words_of(sample, bed.inputs))
    assert all(question.text in shown for question in found.values())


def test_the_sample_is_of_a_picture_that_is_there(bed):
    scenery = Scenery.of(bed.inputs)
    shown = next(iter(sorts_of_one_scene(bed.dataset, scenery).values())).scene_id
    one = {"clevr": Path(str(bed.images) + "-one")}
    one["clevr"].mkdir()
    name = next(f"{row['scene_ids'][0].partition(':')[2]}.png" for row in bed.rows() if row["scene_ids"][0] != shown)
    (one["clevr"] / name).symlink_to(bed.images / name)
    found = sorts_of_one_scene(bed.dataset, Scenery(scenery.store, one))
    assert {f"{question.scene_id.partition(':')[2]}.png" for question in found.values()} == {name}


def test_the_guide_shows_a_chain_and_a_tree(bed):
    scene_id = world.shown_scene(Scenery.of(bed.inputs))
    chain, tree = (of_shape(bed.dataset, *of, scene_id) for of in ((True, (7, 10)), (False, (9, 13))))
    assert all(len(row.dependencies) <= 1 for row in from_json(chain.program))
    assert any(row.operation in ("union", "intersect") for row in from_json(tree.program))
    shown = words_of(guide, bed.inputs)
    for question in (chain, tree):
        assert question.text in [" ".join(text.split()) for text in shown]
        told = [text for text in shown if text.endswith(f"of {len(question.rows)} functions, about another picture")]
        assert bool(told) == (question.scene_id != scene_id)
        rows = Counter(" ".join([row.operation, *row.arguments]) for row in from_json(question.program))
        assert not rows - Counter(shown)
    assert {"left", "right", "front", "behind", "filter_<attribute>", "cylinder"} <= {*shown}
    assert not {"above", "below"} & {*shown}


def test_the_guide_counts_every_object(bed):
    store = SceneStore(bed.scenes)
    things = [thing for graph in store.graphs(store.scenes["scene_id"].to_pylist()) for thing in graph.objects.values()]
    found = attributes(bed.scenes)
    assert all(sum(of.values()) == len(things) for of in found.values())
    assert found["shape"] == Counter(thing.name for thing in things)
    assert found["color"] == Counter(
        name for thing in things for name, group in thing.attributes.items() if group == "color"
    )


def test_no_words_of_the_guide_leave_the_page(bed):
    with style.applied():
        figure = guide.make(bed.inputs, None)
        figure.canvas.draw()
    for text in figure.findobj(Text):
        if text.get_text() and text.get_visible():
            box = text.get_window_extent()
            assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1, text


def drawn(module, inputs):
    """A figure that a module draws, as matplotlib has it."""
    with style.applied():
        figure = module.make(inputs, None)
        figure.canvas.draw()
    return figure


def apart(one, other) -> bool:
    """Whether two boxes of the screen, of one unit less to each side, have no place in common."""
    return one.x1 - 1 <= other.x0 or other.x1 - 1 <= one.x0 or one.y1 - 1 <= other.y0 or other.y1 - 1 <= one.y0


def test_no_number_of_a_bar_is_under_the_key_of_the_types(bed, other):
    """Types of which the last has the longest bar: in the corner where a key of bars often stands."""
    exists = [row for row in bed.rows() if from_json(row["program"])[-1].operation == "exist"]
    for inputs in (bed.inputs, other(exists).inputs):
        right = drawn(statistics, inputs).axes[1]
        key = right.get_legend().get_window_extent()
        numbers = [text for text in right.texts if "%" in text.get_text()]
        assert numbers and all(apart(text.get_window_extent(), key) for text in numbers)


def test_names_in_the_guides_picture_are_over_no_object(bed):
    ax = drawn(guide, bed.inputs).axes[0]
    graph = SceneStore(bed.scenes).graph(world.shown_scene(Scenery.of(bed.inputs)))
    boxes = [thing.box for thing in graph.objects.values()]
    things = [Bbox([(x, y), (x + w, y + h)]).transformed(ax.transData) for x, y, w, h in boxes]
    names = [text.get_window_extent() for text in ax.texts if len(text.get_text().split()) == 4]
    assert len(names) == len(things)
    assert all(apart(name, thing) for name in names for thing in things)
    assert all(apart(one, another) for one, another in combinations(names, 2))


def test_the_guide_says_of_which_shape_no_question_is(bed, other):
    chain = of_shape(bed.dataset, True, (7, 10), world.shown_scene(Scenery.of(bed.inputs))).text
    shown = words_of(guide, other([row for row in bed.rows() if row["text"] == chain][:1]).inputs)
    assert "No question of this dataset is a tree." in shown
    assert not any(text.startswith("No question") for text in words_of(guide, bed.inputs))


def test_an_interval_is_seen_over_the_papers_diamond(bed):
    wanted = PAGES["figure4"]
    with style.applied():
        figure = panels_figure.make(bed.inputs, wanted)
    lines = [line for ax in figure.axes for line in ax.get_lines()]
    diamonds = [line for line in lines if line.get_marker() == "D"]
    intervals = [line for line in lines if len(set(line.get_xdata())) == 1 and len(line.get_xdata()) == 2]
    assert diamonds and intervals
    assert min(line.get_zorder() for line in intervals) > max(line.get_zorder() for line in diamonds)
    assert {line.get_color() for line in intervals} & {line.get_mfc() for line in diamonds} == set()


def test_another_languages_dataset_is_refused(bed, tmp_path, world):
    with pytest.raises(InputError, match="language covr, not clevr"):
        tables.make(FOLDER / "sizes.yaml", {"dataset": [world.dataset]}, tmp_path / "sizes")
