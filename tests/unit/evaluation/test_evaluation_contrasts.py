"""Numbers made of several accuracies: the generalization score on the paper's numbers and on small made-up runs."""

import json
import re

import pytest
import typer
from typer.testing import CliRunner

from compvqa import plugins, tables
from compvqa.cli import models
from compvqa.errors import InputError
from compvqa.evaluation import contrasts
from compvqa.evaluation.contrasts import CONTRASTS, generalization
from fixtures.scored import ANSWERS, Scored


@pytest.fixture
def world(tmp_path) -> Scored:
    return Scored(tmp_path)


@pytest.mark.parametrize("name", plugins.names("compvqa.evaluation.contrasts"))
def test_a_contrast_is_a_module_found_by_its_name(name):
    module = contrasts.find(name)
    assert len(module.VARIANTS) != 1
    same = [0.5] * (len(module.VARIANTS) or 2)  # models are compared where no variants are
    assert module.below(*same) is False and module.value(*same) in (None, 0)
    with pytest.raises(InputError, match="there is no contrast 'gap': use one of .*generalization"):
        contrasts.find("gap")


def test_the_generalization_score_of_runs(world):
    good, bad = {"q2": "2", "q4": "true"}, {"q2": "0", "q4": "false"}
    world.predict("vb.iid.text.1", ANSWERS | bad)
    world.predict("vb.some.comp.1", {"q0": "true"} | good)
    world.predict("vb.some.comp.2", {"q0": "true"} | bad)
    world.predict("vb.some.size.1", {"q0": "true"} | good)
    world.score()
    rows = {row["part"]: row for row in tables.read(world.contrasts, CONTRASTS).to_pylist()}
    test, dev = rows["test_comp"], rows["dev_comp"]
    assert {row["contrast"] for row in rows.values()} == {"generalization"}
    assert json.loads(test["accuracies"]) == {"text": 0, "comp": 0.5, "size": 1} and test["score"] == 0.5
    assert (test["n"], test["seeds"]) == (2, 2)
    assert test["low"] <= 0.5 <= test["high"]
    assert json.loads(dev["accuracies"])["size"] == 1 and dev["score"] is None and dev["low"] is None


def test_the_generalization_score_of_several_seeds_is_that_of_whole_numbers(world):
    """Thirds have no exact sum: 1/3 + 1 is summed as 1 + 3 right answers of three seeds."""
    world.predict("vb.iid.text.1", ANSWERS | {"q2": "0", "q4": "false"})
    for seed, q2 in enumerate(("2", "0", "0"), 1):
        world.predict(f"vb.some.comp.{seed}", {"q0": "true", "q2": q2, "q4": "true"})
        world.predict(f"vb.some.size.{seed}", {"q0": "true", "q2": "2", "q4": "true"})
    world.score()
    rows = {row["part"]: row for row in tables.read(world.contrasts, CONTRASTS).to_pylist()}
    test = rows["test_comp"]
    assert json.loads(test["accuracies"]) == {"text": 0, "comp": 2 / 3, "size": 1}
    assert (test["score"], test["n"], test["seeds"]) == (2 / 3, 2, 3)
    assert {test["low"], test["high"]} == {1 / 3, 1}


def test_a_contrasts_interval_draws_images_where_scores_do(world):
    """q2 and q4 are about the same image: with one of them right, every draw of images gives the same score, and what
    another image would give is not known."""
    world.predict("vb.iid.text.1", ANSWERS | {"q2": "0", "q4": "false"})
    world.predict("vb.some.comp.1", {"q0": "true", "q2": "2", "q4": "false"})
    world.predict("vb.some.size.1", {"q0": "true", "q2": "2", "q4": "true"})
    between = {}
    for resample in ("questions", "images"):
        world.score(resample=resample)
        rows = {row["part"]: row for row in tables.read(world.contrasts, CONTRASTS).to_pylist()}
        test = rows["test_comp"]
        assert (test["score"], test["n"], json.loads(test["accuracies"])["comp"]) == (0.5, 2, 0.5)
        between[resample] = test["low"], test["high"]
    assert between == {"questions": (0, 1), "images": (0, pytest.approx(39.5))}


def test_the_generalization_score_in_context_draws_texts_and_images(world):
    """Two texts of two image sets; of one image set; and one text of two: one of either tells of no other."""
    world.predict("vlm.iid.text.1", ANSWERS | {"q2": "0", "q4": "false"})
    world.predict("vlm.some.comp.1", {"q0": "true", "q2": "2", "q4": "false"})
    world.predict("vlm.some.shown.1", {"q0": "true", "q2": "2", "q4": "true"})
    between = []
    for image, same in (("a", ()), ("c", ()), ("a", ("q2", "q4"))):
        world.reword(*same)
        world.show("q4", image)
        world.score(contrasts=["in_context_generalization"], resample="questions")
        row = {row["part"]: row for row in tables.read(world.contrasts, CONTRASTS).to_pylist()}["test_comp"]
        assert json.loads(row["accuracies"]) == {"text": 0, "comp": 0.5, "shown": 1}
        assert (row["score"], row["n"], row["seeds"]) == (0.5, 2, 1)
        between.append((row["low"], row["high"]))
    assert between == [(0, 1), (0, pytest.approx(39.5)), (0, pytest.approx(39.5))]


@pytest.mark.parametrize("resample", ["questions", "images"])
def test_the_difference_of_two_models_is_drawn_for_both_at_once(world, resample):
    """Both are wrong on q0 alone, and one of them on q1 as well, or in one of two seeds: then it is never better."""
    world.predict("mine.iid.iid.1", ANSWERS | {"q0": "?"})
    for seed, wrong in ((1, {"q0": "?", "q1": "?"}), (2, {"q0": "?"})):
        world.predict(f"other.iid.iid.{seed}", ANSWERS | wrong)
    world.score(resample=resample, contrasts=["difference"], facets=["images"])
    rows = {
        (row["split"], row["part"], row["facet"], row["value"]): row
        for row in tables.read(world.contrasts, CONTRASTS).to_pylist()
    }
    assert {(row["contrast"], row["model"], row["other"]) for row in rows.values()} == {("difference", "mine", "other")}
    dev, test = rows["iid", "dev", "all", ""], rows["iid", "test", "all", ""]
    assert (dev["n"], dev["score"], json.loads(dev["accuracies"])) == (2, 0.25, {"mine": 0.5, "other": 0.25})
    one_image = (pytest.approx(0.025 * 0.25 - 0.975), pytest.approx(0.025 * 0.25 + 0.975))
    assert (dev["low"], dev["high"]) == ((0, 0.5) if resample == "questions" else one_image)
    units = {"questions": 3, "images": 2}[resample]
    assert test["score"] == 0 and (-test["low"], test["high"]) == (pytest.approx(1 - 0.025 ** (1 / units)),) * 2
    assert rows["iid", "dev", "images", "2"] | {"facet": "all", "value": ""} == dev
    assert not {facet for _, _, facet, _ in rows} & {"template", "property"}


def test_the_papers_generalization_scores(shared):
    """Tables 7 and 8 on the arXiv page: split, filtered, VBText, VB, Gen. Score, VBiid-size, VBiid."""
    text = (shared / "papers" / "covr-arxiv-html.txt").read_text(encoding="utf-8")
    pattern = r"^(?:Has|Ans|TPL)-.* [\d.]+k ([\d.]+) ([\d.]+) (?:\[\S+\])?([\d.]+) ([\d.]+) [\d.]+$"
    rows = [tuple(map(float, found)) for found in re.findall(pattern, text.split("Table 9")[0], re.MULTILINE)]
    assert len(rows) >= 19
    for vb_text, vb, printed, size in rows[:19]:
        assert generalization.value(vb_text, vb, size) == pytest.approx(printed, abs=0.011)


@pytest.mark.parametrize(("text", "comp", "size"), [(0.5, 0.9, 0.5), (0.6, 0.9, 0.5)])
def test_without_a_gap_the_score_is_undefined(text, comp, size):
    assert generalization.value(text, comp, size) is None


def test_the_command_makes_the_contrasts_that_are_named_with_their_code(world):
    world.predict("vb.iid.text.1", ANSWERS)
    world.predict("vb.some.comp.1", {"q0": "true", "q2": "2", "q4": "true"})
    world.predict("vb.some.size.1", {"q0": "true", "q2": "2", "q4": "true"})
    app = typer.Typer()
    models.add_to(app)
    made = {}
    for named in (["generalization"], []):
        lists = [f"--predictions={path}" for path in world.predictions] + [f"--splits={path}" for path in world.splits]
        config = json.dumps({"resamples": 20, "contrasts": named})
        options = ["--contrasts", world.contrasts, "--dataset", world.dataset, "--config", config, *lists]
        done = CliRunner().invoke(app, ["scores", str(world.out), *map(str, options)])
        assert done.exception is None, done.exception
        code = json.loads(world.out.with_name("scores.parquet.prov.json").read_text())["code"]
        made[tuple(named)] = len(tables.read(world.contrasts, CONTRASTS)), code
    assert made["generalization",][0] == 2 and made[()][0] == 0
    assert made["generalization",][1] != made[()][1]
