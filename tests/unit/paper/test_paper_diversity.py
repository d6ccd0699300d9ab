"""Pages of gaps against diversity: of a test-bed, and of others beside it."""

import json
from dataclasses import replace

import matplotlib.pyplot as plt
import pytest
import yaml

from compvqa import tables
from compvqa.evaluation.contrasts import CONTRASTS
from compvqa.paper.diversity import gaps, trends
from compvqa.paper.figures import diversity
from compvqa.paper.reference import Reference
from compvqa.paper.tables import pair_gaps
from compvqa.splits.held import HeldPair
from compvqa.splits.splitters import SPLITS

# Of a world by split: the diversity, and the accuracies with the pair, without it, and on matched questions
WORLDS = {
    "ours": {"a": (4, 0.5, 0.9, 0.8), "b": (6, 0.6, 0.9, 0.8), "c": (24, 0.8, 0.9, None)},
    "other": {"d": (9, 0.7, 0.9, 0.9)},
}


def write(folder, splits):
    """A test-bed's contrasts and splits: their paths, the contrasts first."""
    paths, rows = [folder / "evaluation/contrasts.parquet"], []
    for name, (many, with_it, without, matched) in splits.items():
        compared = (("ood", "iid"), ("ood", "matched"), ("small_ood", "small_iid"))
        held = HeldPair(name, ("red", "cup"), ("color", "name"), many, 1 / many, "comp", compared)
        paths.append(folder / f"splits/{name}.parquet")
        tables.write(paths[-1], replace(SPLITS, metadata=held.metadata()), [])
        for (part, other), share in zip(compared, (without, matched, 0.1), strict=True):
            if share is not None:
                told = {"contrast": "systematicity_gap", "model": "m", "other": "", "split": name, "part": part}
                told |= {"text": "generated", "facet": "like", "value": other, "n": 50, "seeds": 1, "undefined": 0.0}
                told |= {"accuracies": json.dumps({"with": with_it, "without": share}), "below": 0.0}
                rows.append(
                    told | {"score": with_it - share, "low": with_it - share - 0.1, "high": with_it - share + 0.1}
                )
    tables.write(paths[0], CONTRASTS, rows)
    return paths


@pytest.fixture
def inputs(tmp_path):
    ours, other = (write(tmp_path / "results" / world, splits) for world, splits in WORLDS.items())
    return {"contrasts": ours[:1], "splits": ours[1:], "beside:Another world": other}


def page(root, name):
    return Reference.model_validate(yaml.safe_load((root / f"config/paper/diversity/{name}.yaml").read_text()))


def test_a_row_a_split_the_most_diverse_first_world_by_world(root, inputs):
    table = pair_gaps.make(inputs, page(root, "gaps"))
    labels = ["ours: m on c", "ours: m on b", "ours: m on a", "Another world: m on d"]
    assert [row.label for row in table.rows] == labels
    shown = [dict(zip(table.columns, row.cells, strict=True)) for row in table.rows]
    assert [row["Diversity"].value for row in shown] == [24, 6, 4, 9]
    assert [row["Gap"].value for row in shown] == pytest.approx([-10, -30, -40, -20])
    assert [row["Against matched"].ours for row in shown] == ["–", "-20.00", "-30.00", "-20.00"]
    assert [row.rule_above for row in table.rows] == [False, False, False, True]


def test_trends_are_of_each_world_by_itself(inputs):
    ours, other = trends(gaps(inputs))
    assert ours.startswith("ours, m: 3 splits, mean gap −26.7; against matched questions −25.0;")
    assert "diversity 1.00 (p " in ours and "less of what one value tells of the other 1.00 (p " in ours
    assert other == "Another world, m: 1 splits, mean gap −20.0; against matched questions −20.0."


def test_a_panel_a_world_and_a_point_a_split(root, inputs):
    figure = diversity.make(inputs, page(root, "worlds"))
    assert [ax.get_title() for ax in figure.axes] == ["ours", "Another world"]
    points = [
        line.get_ydata()[0] for line in figure.axes[0].lines if line.get_marker() == "o" and len(line.get_xdata())
    ]
    assert sorted(points) == pytest.approx([-40, -30, -30, -20, -10])
    plt.close(figure)


def test_without_such_a_split_the_pages_say_so(root, inputs):
    nothing = {"contrasts": inputs["contrasts"], "splits": []}
    assert pair_gaps.make(nothing, page(root, "gaps")).notes[0].startswith("No model was trained on a split that")
    figure = diversity.make(nothing, page(root, "worlds"))
    assert "held" not in figure.axes[0].get_title() and not figure.axes[0].lines
    plt.close(figure)
