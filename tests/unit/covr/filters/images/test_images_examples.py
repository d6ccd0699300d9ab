"""The classifier's examples: what is annotated, and candidates that differ; each image in one fold."""

from collections import Counter

import duckdb
import pyarrow.parquet as pq
import pytest

from compvqa import tables
from compvqa.covr.english import describe
from compvqa.covr.filters.images import examples
from compvqa.covr.filters.images.examples import EXAMPLES, TEXTS, fold_of
from compvqa.covr.questions.references import matches
from compvqa.covr.subgraphs.simple import simple_subgraphs
from compvqa.covr.subgraphs.subgraph import parse
from compvqa.covr.subgraphs.tables import SUBGRAPHS
from unit.covr.filters.images.classifier_worlds import FOLDS, ClassifierWorld

pytestmark = pytest.mark.xdist_group("images-examples")  # one process, so that its world is made once


@pytest.fixture(scope="module", params=range(3))
def world(request, tmp_path_factory):
    made = ClassifierWorld(tmp_path_factory.mktemp("examples"), request.param)
    made.counts = made.examples()
    return made


@pytest.fixture(scope="module")
def rows(world):
    return tables.read(world.folder / "examples.parquet", EXAMPLES).to_pylist()


@pytest.fixture(scope="module")
def trees(world):
    known = tables.read(world.store.files[0][0], SUBGRAPHS).to_pylist()
    return {row["subgraph_key"]: parse(row["tree"]) for row in known}


def test_a_label_says_whether_the_scene_has_the_subgraph(world, rows, trees):
    scenes = {graph.scene_id: graph for graph in world.graphs}
    assert rows
    for row in rows:
        assert bool(matches(scenes[row["scene_id"]], trees[row["subgraph_key"]])) == row["label"]
        assert (row["differs"] == "") == row["label"]


def test_all_subgraphs_are_simple_and_have_a_negative(rows, trees):
    labels = Counter((row["subgraph_key"], row["label"]) for row in rows)
    for key in {row["subgraph_key"] for row in rows}:
        g = trees[key]
        assert g in simple_subgraphs(g)
        assert labels[key, True] and 1 <= labels[key, False] <= labels[key, True]


def test_a_scene_with_a_noun_that_overlaps_is_no_negative_of_a_bare_noun(world, rows, trees):
    overlapping = {(x, y) for (kind, x, y), m in _overlap(world).items() if kind == "noun" and m <= 0.5}
    scenes = {graph.scene_id: graph for graph in world.graphs}
    for row in rows:
        g = trees[row["subgraph_key"]]
        if not row["label"] and not g.edges and g.attribute is None:
            nouns = {thing.name for thing in scenes[row["scene_id"]].objects.values()}
            assert not [noun for noun in nouns if (g.name, noun) in overlapping]


def _overlap(world):
    found = tables.read(world.store.overlap).to_pylist()
    return {(row["kind"], row["x"], row["y"]): row["m"] for row in found}


def test_row_groups_of_texts_do_not_depend_on_how_the_database_gives_rows(world, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROW_GROUP", 3000)
    monkeypatch.setattr(examples, "SAID_AT_A_TIME", 2048)
    (tree, *_) = tables.read(world.store.files[0][0], SUBGRAPHS)["tree"].to_pylist()
    with duckdb.connect() as connection:
        connection.execute("create table chosen as select range as subgraph_key from range(5000)")
        connection.execute("create table simple as select subgraph_key, ? as tree from chosen", [tree])
        tables.write(tmp_path / "texts.parquet", TEXTS, examples._texts(connection))
    file = pq.ParquetFile(tmp_path / "texts.parquet").metadata
    assert [file.row_group(number).num_rows for number in range(file.num_row_groups)] == [3000, 2000]


def test_folds_part_the_images(world, rows):
    folds = {row["scene_id"]: {r["fold"] for r in rows if r["scene_id"] == row["scene_id"]} for row in rows}
    assert all(found == {fold_of(scene, FOLDS)} for scene, found in folds.items())  # an image is called as its scene
    assert set().union(*folds.values()) == set(range(FOLDS))
    assert world.counts["fold 0"] + world.counts["fold 1"] == world.counts["out"] == len(rows)


def test_every_text_is_the_english_of_its_subgraph(world, rows, trees):
    said = tables.read(world.folder / "texts.parquet", TEXTS).to_pylist()
    assert {row["subgraph_key"] for row in said} == {row["subgraph_key"] for row in rows}
    assert all(row["text"] == describe(trees[row["subgraph_key"]]) for row in said)


def test_equal_runs_give_equal_bytes_whatever_the_threads(tmp_path):
    files = []
    for name, threads in (("a", 1), ("b", 2)):
        world = ClassifierWorld(tmp_path / name)
        world.examples(threads=threads)
        files.append((tmp_path / name / "examples.parquet").read_bytes())
    assert files[0] == files[1]


def test_more_negatives_where_they_are_wanted(tmp_path):
    few, many = (ClassifierWorld(tmp_path / str(n)).examples(negatives=n) for n in (0.5, 3))
    assert few["negative"] < many["negative"] and few["positive"] == many["positive"]
