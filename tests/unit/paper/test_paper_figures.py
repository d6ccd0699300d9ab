"""Each of the paper's figures from our tables."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from PIL import Image

from compvqa.errors import InputError
from compvqa.evaluation.analyses.statistics import STATISTICS
from compvqa.evaluation.scores import SCORES
from compvqa.paper import figures, style
from compvqa.paper.figures import accuracy, answers, training
from compvqa.paper.reference import load
from compvqa.tables import write
from fixtures.paper_inputs import NASTY

FOLDER = Path(__file__).resolve().parents[3] / "config" / "paper"
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
def test_no_figure_fails_when_there_is_nothing_to_show(tmp_path, name):
    write(tmp_path / "statistics.parquet", STATISTICS, [])
    write(tmp_path / "scores.parquet", SCORES, [])
    inputs = {name: [tmp_path / f"{name}.parquet"] for name in ("statistics", "scores")} | {"histories": []}
    assert figures.make(FOLDER / f"{name}.yaml", inputs, tmp_path / name)["out"] == 2


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
    scores = scores[(scores.model == "visualbert") & (scores.template != "")]
    expected = 100 * scores.groupby(["variant", "template"])["accuracy"].mean()
    assert sorted(bar.get_width() for bar in figure.axes[0].patches) == pytest.approx(sorted(expected))


def test_runs_that_differ_in_the_seed_share_a_name():
    names = [
        training.kind_of(Path("runs") / run / "history.csv")
        for run in ("visualbert.iid.text.0", "visualbert.iid.text.12")
    ]
    assert names == ["visualbert.iid.text"] * 2
    assert training.kind_of(Path("runs/visualbert.has-num-3.comp.1/history.csv")) == "visualbert.has-num-3.comp"


def test_wrong_input_is_one_clear_sentence(world, tmp_path):
    (tmp_path / "history.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="is no run's history.csv"):
        figures.make(FOLDER / "training.yaml", {"histories": [tmp_path / "history.csv"]}, tmp_path / "t")
    with pytest.raises(InputError, match="no figure called iid"):
        figures.make(FOLDER / "table6.yaml", world.inputs, tmp_path / "t")
