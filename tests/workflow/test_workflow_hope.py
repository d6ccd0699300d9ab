"""Held-out pairs from nothing: pools of scenes, sets of questions, splits, runs, scores, and the audit of one."""

import json
from collections import Counter
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
import yaml

from compvqa.provenance.audit import audit
from fixtures.project import copy_project

SIZES = ("small", "large")
pytestmark = pytest.mark.xdist_group("clevr")
PAIR, OTHER = "hope-02-large-rubber", "hope-08-small-rubber"


@pytest.fixture(scope="module")
def made(root, tmp_path_factory):
    """The project with a finished test-bed of two pairs: pictures of 48 x 32, of at most two objects."""
    project = copy_project(root, tmp_path_factory.mktemp("hope"))
    data = yaml.safe_load((project.folder / "config/clevr-hope-small.yaml").read_text())
    sides, look = ("train", "iid", "ood"), {"width": 48, "height": 32, "light_samples": 1, "max_objects": 2}
    pools = {side: {"scenes": 8, "pair": "present" if side == "ood" else "absent"} for side in sides}
    colors = {"gray": [87, 87, 87], "cyan": [41, 208, 208]}
    everything = {**look, "min_objects": 1, "min_pixels": 300, "colors": colors}
    data["world"]["settings"] = {"pools": pools, "variants": 1, "all": everything}
    data["sources"][0]["files"] = {
        side: f"resources/clevr-hope-small/CLEVR_{side}_scenes.json" for side in (*sides, "minimal")
    }
    taken = {side: {"sides": [side], "scenes": 8} for side in sides}
    data["dataset"] |= {"pools": taken, "sizes": [10, 20, 30], "most": {"complex_iid": 30}, "variants": 1}
    words = json.loads((project.folder / "config/words/clevr.json").read_text())
    words["values"]["color"] = list(colors)
    (project.folder / "config/two-colors.json").write_text(json.dumps(words))
    data["dataset"]["words"] = "config/two-colors.json"
    data |= {"testbed": "small", "shards": 1, "splits": {"names": [PAIR, OTHER]}}
    data["models"] = {"baselines": ["maj", "executor"], "trained": ["lstm-tiny"], "seeds": [3], "splits": [PAIR]}
    data["models"] |= {"variants": ["small", "large"], "seeds_of": {PAIR: [1, 2]}}
    data["scores"] = {"resamples": 20, "contrasts": [], "facets": ["answer"]}
    data["paper"] = {"show": [f"clevr-hope/{page}" for page in ("table1", "figure1", "figure7", "gaps", "measures")]}
    (project.folder / "config/small.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    project = replace(project, config="config/small.yaml")
    project.run("all")
    return project


def test_a_pair_has_a_dataset_of_its_own_which_its_split_divides(made):
    bed = made.folder / "results/small"
    rows = pq.read_table(bed / f"pairs/{PAIR}/dataset/questions.parquet").to_pylist()
    parts = Counter(row["part"] for row in rows)
    assert parts["train_small"] == parts["train_medium"] == 10 and parts["complex_ood"] == 8
    assert (parts["minimal_ood"], parts["minimal_iid"]) == (6 * 4, 6 * 9)
    split = pq.read_table(bed / f"splits/{PAIR}.parquet").to_pylist()
    assert Counter(row["part"] for row in split) == parts
    assert {row["part"] for row in split if row["role"] == "fit"} == {part for part in parts if "train" in part}
    assert not (bed / "dataset").exists() and made.plan() == set()


def test_runs_and_baselines_answer_each_pairs_tests_and_are_scored_together(made):
    bed = made.folder / "results/small"
    scores = pq.read_table(bed / "evaluation/scores.parquet").to_pylist()
    whole = {(row["run"], row["part"]): row for row in scores if row["facet"] == "all"}
    tests = {"complex_iid", "complex_ood", "complex_matched", "minimal_iid", "minimal_ood"}
    names = {f"{model}.{pair}.{size}.1" for model in ("maj", "executor") for pair in (PAIR, OTHER) for size in SIZES}
    names |= {f"lstm-tiny.{PAIR}.{size}.{seed}" for size in SIZES for seed in (1, 2)}
    assert whole.keys() == {(name, test) for name in names for test in tests}
    assert all(row["split"] in row["run"] for row in whole.values())
    assert all(row["right"] == row["n"] for (name, _), row in whole.items() if name.startswith("executor"))
    assert whole[f"maj.{PAIR}.large.1", "minimal_ood"]["n"] == 24


def test_a_tally_has_a_row_for_the_groups_of_a_minimal_test_that_are_answered_alike(made):
    tallies = pq.read_table(made.folder / "results/small/evaluation/tallies.parquet").to_pylist()
    found = [row for row in tallies if row["run"] == f"executor.{PAIR}.small.1" and row["facet"] == "all"]
    minimal = [(row["right"], row["n"], row["units"]) for row in found if row["part"] == "minimal_ood"]
    assert minimal == [(4, 4, 6)]
    maj = [row for row in tallies if row["run"] == f"maj.{PAIR}.large.1" and row["part"] == "minimal_ood"]
    assert {(row["n"], row["units"]) for row in maj if row["facet"] == "all"} == {(4, 6)}
    assert {(row["value"], row["n"], row["units"]) for row in maj if row["facet"] == "answer"} == {
        ("no", 3, 6), ("yes", 1, 6)
    }  # fmt: skip
    assert sum(row["n"] * row["units"] for row in found if row["part"] == "minimal_iid") == 6 * 9


def test_the_audit_tells_of_the_pairs_guard_in_programs_and_scenes(made, monkeypatch):
    monkeypatch.chdir(made.folder)
    found = audit(made.folder / f"results/small/splits/{PAIR}.parquet", examples=3, seed=1)
    assert found["guard"]["leak guard: questions of train_large with what is held out"] == 0
    (step,) = [step for step in found["steps"] if step["stage"] == "gather_pair"]
    told = json.dumps(step)
    for what in ("with the pair, strict: train_small", "scenes with the pair: complex_iid", "scenes of train, in none"):
        assert what in told
    assert len(found["examples"]) == 3
