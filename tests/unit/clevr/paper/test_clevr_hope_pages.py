"""CLEVR-HOPE's pages, each made of made-up tallies, and counted again by plain loops."""

import json
from dataclasses import replace
from statistics import fmean, pstdev

import matplotlib.pyplot as plt
import pytest
from matplotlib.text import Text
from PIL import Image

from compvqa import plugins
from compvqa import tables as parquet
from compvqa.clevr.hope.gaps import GAPS, Measure
from compvqa.clevr.language import from_functions
from compvqa.clevr.paper.figures import cut_gaps, gap_heat, gap_lines, minimal_group, pair_example
from compvqa.clevr.paper.tables.gap_measures import LINES
from compvqa.clevr.tables import QUESTIONS
from compvqa.evaluation.tallies import TALLIES
from compvqa.paper import figures, style, tables
from compvqa.paper.claims import claim_of
from compvqa.paper.needs import Plan, lacking
from compvqa.paper.reference import load
from compvqa.paper.tables.findings import MISSING
from compvqa.programs.rows import to_json
from fixtures.hope_tallies import GRIDS, PAIRS, made_up, runs_of, written
from fixtures.paper_tables import PAPERS, rows_of

FOLDER = PAPERS / "clevr-hope"
PAGES = {path.stem: load(path) for path in sorted(FOLDER.glob("*.yaml"))}
INPUTS = {"tallies", "scores", "definitions", "words", "models", "dataset", "scenes", "images", "splits"}
TALLIED = [name for name, page in PAGES.items() if "tallies" in page.inputs]
# One page of each module and of each way in which it is asked; others are made by the same code.
MADE = {
    (page.kind, page.make, *(page.options.get(key, "") for key in ("by", "controlled")), bool(page.rows)): name
    for name, page in PAGES.items()
    if name in TALLIED
}
SOME = sorted(MADE.values())
OURS = "attentive-small"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Runs of two models on six pairs, and of one in cut vocabularies."""
    rows = made_up() + made_up(GRIDS, [OURS], 2, common=True)
    return written(tmp_path_factory.mktemp("hope"), rows)


@pytest.fixture(scope="module")
def runs(inputs):
    return [run for run in runs_of(parquet.read(inputs["tallies"][0]).to_pylist()) if not run.held.draw]


@pytest.fixture(scope="module")
def asked(bed, tmp_path_factory):
    """The questions of the test-bed as those of a held-out pair, with a group of a minimal test."""
    rows = bed.rows()
    parts = ("train_small", "complex_iid", "minimal_iid", "complex_ood")
    told = [row | {"part": parts[number % len(parts)], "number": number} for number, row in enumerate(rows)]
    program = from_functions(
        [
            {"function": function, "inputs": inputs, "value_inputs": values}
            for function, inputs, values in (
                ("scene", [], []),
                ("filter_material", [0], ["rubber"]),
                ("filter_shape", [1], ["cylinder"]),
                ("exist", [2], []),
            )
        ]
    )
    scenes = sorted({row["scene_ids"][0] for row in rows})
    for number, answer in enumerate(("yes", "no", "no", "no") * 2):
        one = {"question_id": f"minimal {number}", "part": "minimal_ood", "number": 8 + number, "answer": answer}
        one |= {"text": f"Are there any rubber cylinders {number // 4}?", "program": to_json(program)}
        told.append(rows[0] | one | {"scene_ids": [scenes[number]]})
    path = tmp_path_factory.mktemp("asked") / "questions.parquet"
    parquet.write(path, QUESTIONS, told)
    return bed.inputs | {"dataset": [path]}


def words_of(module, inputs, name: str) -> str:
    """The texts in a figure that a module draws."""
    with style.applied():
        figure = module.make(inputs, PAGES[name])
        plt.close(figure)
    return "\n".join(text.get_text() for text in figure.findobj(Text) if text.get_text())


def test_there_is_a_page_of_every_table_and_figure_of_the_paper():
    assert {f"table{number}" for number in range(1, 21)} | {f"figure{number}" for number in range(1, 28)} <= {*PAGES}
    assert {*PAGES} - {f"{kind}{number}" for kind in ("table", "figure") for number in range(1, 28)} == {
        *("findings", "measures", "gaps", "gap-by-diversity", "grid", "preliminary")
    }
    others = {f"{name}.csv" for name in PAGES}
    assert all(set(page.inputs) <= INPUTS | others for page in PAGES.values())


def made_once(name, inputs, folder) -> dict[str, bytes]:
    """The files of a table."""
    folder.mkdir()
    tables.make(FOLDER / f"{name}.yaml", inputs, folder / name)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("name", [name for name in SOME if PAGES[name].kind == "table"])
def test_every_table_is_made_twice_with_the_same_bytes(inputs, tmp_path, name):
    made = [made_once(name, inputs, tmp_path / folder) for folder in ("a", "b")]
    assert made[0] == made[1] and len(made[0]) == 3


@pytest.mark.parametrize("name", [name for name in SOME if PAGES[name].kind == "figure"])
def test_every_figure_has_a_panel_of_ours_and_says_where_nothing_ran(inputs, tmp_path, name):
    module = plugins.find(figures.__name__, PAGES[name].make, "make", "figure")
    told = " ".join(words_of(module, inputs, name).split())
    assert OURS in told and "yes quarter" in told
    parquet.write(tmp_path / "tallies.parquet", TALLIES, [])
    told = words_of(module, inputs | {"tallies": [tmp_path / "tallies.parquet"]}, name)
    assert OURS not in told and ("LXMERT-s" in told or "no model was tested" in told)


@pytest.mark.parametrize("pairs", [0, 1, 2])
@pytest.mark.parametrize("name", [name for name in SOME if PAGES[name].kind == "table"])
def test_no_table_fails_with_few_runs(tmp_path, name, pairs):
    few = dict(list(PAIRS.items())[1 : 1 + pairs])
    assert made_once(name, written(tmp_path, made_up(few, ["lxmert-s"], seeds=1)), tmp_path / "out")


def test_accuracies_of_a_pair_are_means_over_its_runs(inputs, runs, tmp_path):
    made = rows_of("table8", inputs, tmp_path, "clevr-hope")
    assert len(made) == 29 and list(made)[:2] == ["cyan cylinder", "brown sphere"]
    for size in ("small", "large"):
        of = [run for run in runs if (run.model, run.variant) == ("lxmert-s-small", size)]
        values = [Measure("complex_ood").of(run) for run in of if run.held.split == "hope-03-cyan-cylinder"]
        assert float(made["cyan cylinder"][size]) == pytest.approx(fmean(values), rel=1e-5)
        assert float(made["cyan cylinder"][f"{size} deviation"]) == pytest.approx(pstdev(values), rel=1e-5)
        low, high = (float(made["cyan cylinder"][f"{size} {end}"]) for end in ("low", "high"))
        assert low < fmean(values) < high
    assert made["cyan cylinder"]["large (paper)"] == "94.92 ± 0.68"
    assert made["gray cube"]["note"] == "not run" and made["gray cube"]["large (paper)"] == "93.60 ± 0.55"


def test_pairs_that_the_paper_has_no_numbers_of_are_those_that_ran(inputs, tmp_path):
    rows = [row | {"model": "tensor-nmn"} for row in made_up(models=["tensor-nmn"], seeds=1)]
    made = rows_of("table12", written(tmp_path, rows), tmp_path, "clevr-hope")
    assert [made[label]["Diversity"] for label in made] == ["24", "24", "16", "6", "4", "4"]
    assert not any("(paper)" in column for column in next(iter(made.values())))


def test_gaps_by_diversity_are_over_all_runs_with_and_without_those_that_diverged(inputs, runs, tmp_path):
    page = (FOLDER / "table17.yaml").read_text().replace("model: lxmert-s", f"model: {OURS}")
    (tmp_path / "mine.yaml").write_text(page)
    tables.make(tmp_path / "mine.yaml", inputs, tmp_path / "mine")
    made = {line.split(",")[0]: line for line in (tmp_path / "mine.csv").read_text().splitlines()}
    assert list(made)[1:5] == ["24", "16", "6", "4"] and {"all", "24 above 4"} < set(made)
    four = [run for run in runs if (run.model, run.variant, run.held.diversity) == (OURS, "large", 4)]
    values = {run.name: GAPS["complex"].of(run) for run in four}
    assert f",{fmean(values.values()):.6g},{pstdev(values.values()):.6g}," in made["4"]
    kept = [values[run.name] for run in four if not run.diverged]
    lines = (tmp_path / "mine.csv").read_text()
    assert len(kept) == 3 and '"4, without diverged runs",' in lines and f",{fmean(kept):.6g}," in lines
    notes = (tmp_path / "mine.html").read_text()
    for words in (
        "rank correlation",
        "of 6 pairs",
        "2 diverged",
        "complex-matched",
        "yes quarter",
        "0.25 at 4",
        "2 of each",
    ):
        assert words in notes, words


def test_the_numbers_of_all_pairs_are_those_of_the_paper_s_tables(inputs, runs, tmp_path):
    made = rows_of("measures", inputs, tmp_path, "clevr-hope")
    assert list(made) == list(LINES)
    # sections 4.1 to 4.3: over 93 % above always no (55 of 58), a drop of 5 to 6 points, and of 6 to 8
    assert made["Pairs above 75 % on minimal-OOD (%)"]["All models (paper)"] == "94.83"
    assert [made["Mean complex gap"][f"LXMERT-{kind} (paper)"] for kind in "ps"] == ["-5.24", "-5.86"]
    assert [made["Mean minimal gap"][f"LXMERT-{kind} (paper)"] for kind in "ps"] == ["-7.82", "-6.32"]
    mine = [GAPS["complex"].of(run) for run in runs if (run.model, run.variant) == (OURS, "large")]
    assert float(made["Mean complex gap"][OURS]) == pytest.approx(fmean(mine), rel=1e-5)
    whole = made["Groups of four all right"]  # which no mean tells
    assert whole["LXMERT-s"] and not whole["LXMERT-s (paper)"]


def test_cut_vocabularies_are_compared_draw_by_draw(inputs, tmp_path):
    made = rows_of("gap-by-diversity", inputs, tmp_path, "clevr-hope")
    label = f"{OURS}: grid"
    together = made.pop("All models: grid, 24 above 4")  # there is one
    assert list(made) == [f"{label}, {many}" for many in (24, 16, 8, 4)] + [f"{label}, 24 above 4"]
    assert {**together, "Model and diversity": ""} == {**made[f"{label}, 24 above 4"], "Model and diversity": ""}
    last, ends = made[f"{label}, 24 above 4"], (made[f"{label}, 24"], made[f"{label}, 4"])
    for gap in ("Complex gap", "Common test", "Minimal gap"):
        assert float(last[gap]) == pytest.approx(float(ends[0][gap]) - float(ends[1][gap]), abs=1e-3)
        assert 0 < float(last[f"{gap} low"]) < float(last[gap]) < float(last[f"{gap} high"])
        assert last[f"{gap} n"] == "2"
    assert last["Pairs"] == "2" and [row["Bits"] for row in made.values()] == ["0.05", "0.06", "0.13", "0.25", ""]


def test_whole_vocabularies_alone_are_on_other_pages(inputs, tmp_path):
    made = rows_of("gaps", inputs, tmp_path, "clevr-hope")
    assert {row["Pairs"] for label, row in made.items() if label.startswith(f"{OURS}, ") and "above" not in label} == {
        "1",
        "2",
    }
    assert made["LXMERT-p, 4"]["Complex gap (paper)"] == "-13.29" and made["LXMERT-p, 4"]["Runs"] == "0"
    assert {"Against matched", "Yes quarter", "Groups of four"} < set(made["LXMERT-p, 4"])


def findings_of(inputs, tmp_path) -> dict[str, dict[str, str]]:
    """The findings, from the tables that they read."""
    made = {}
    for name in PAGES["findings"].inputs:
        tables.make(FOLDER / name.replace(".csv", ".yaml"), inputs, tmp_path / name.removesuffix(".csv"))
        made[name] = [tmp_path / name]
    return rows_of("findings", made, tmp_path, "clevr-hope")


def test_findings_are_told_by_our_numbers_and_by_the_paper_s(inputs, tmp_path):
    rows = findings_of(inputs, tmp_path)
    assert len(rows) == len(PAGES["findings"].facts)
    told = {label: row["By the paper's numbers"] for label, row in rows.items()}
    # with the runs that diverged, the pairs of LXMERT-p are 36 points apart
    assert {label for label, said in told.items() if said == "does not fit"} == {
        "Pairs are about 25 points apart on minimal-OOD"
    }
    assert [label for label, said in told.items() if not said] == [
        "The minimal gap of Tensor-NMN widens with more data",
        "In cut vocabularies of the same types the gap is narrower where there is more diversity",
    ]
    assert rows["The more diverse a pair, the narrower its gap"]["Here"].startswith("holds")
    few = rows["In cut vocabularies of the same types the gap is narrower where there is more diversity"]
    assert few["Here"].startswith("points that way")  # of two draws, however far their interval is from 0
    assert rows["The minimal gap of Tensor-NMN widens with more data"]["Here"] == MISSING


def test_claims_name_rows_of_the_pages_that_they_read(inputs, tmp_path):
    made = {name: rows_of(name, inputs, tmp_path, "clevr-hope") for name in ("measures", "gaps")}
    for fact in PAGES["findings"].facts:
        for place in claim_of(PAGES["findings"], fact).pairs():
            table, row, _ = place[0]
            assert table == "gap-by-diversity" or row in made[table], place


def test_findings_are_refused_where_no_model_runs():
    pages = {f"clevr-hope/{name}": page for name, page in PAGES.items()}
    plan = Plan(frozenset(), (), {}, {}, (), False, pages).within("clevr-hope")
    ran = Plan(frozenset({(OURS, "hope-02-large-rubber", "large")}), (OURS,), {}, {}, (), False, plan.pages)
    assert lacking(PAGES["findings"], plan) and not lacking(PAGES["findings"], ran)


@pytest.mark.parametrize("name", ["table3", "table15", "table11"])
def test_a_table_of_one_model_is_refused_where_that_does_not_run(name):
    model, others = PAGES[name].options["model"], Plan(frozenset(), (), {}, {}, (), False, {})
    assert f"name one whose name starts with {model} in models.trained" in lacking(PAGES[name], others)
    ran = replace(others, runs=frozenset({(f"{model}-small", "hope-02-large-rubber", "medium")}))
    assert lacking(PAGES[name], replace(ran, trained=(f"{model}-small",))) == ""
    assert lacking(PAGES[name], replace(others, trained=(f"{model}-small",))).startswith(
        "no model is trained on a split"
    )


def test_table_1_tells_what_files_hold_out(inputs, tmp_path):
    splits = {"splits": [tmp_path / "hope-02-large-rubber.parquet", tmp_path / "hope-03-grid-4.parquet"]}
    made = rows_of("table1", inputs | splits, tmp_path, "clevr-hope")
    assert len(made) == 29 and all(row["Diversity"] == row["Diversity (paper)"] for row in made.values())
    assert {"+".join(sorted(row["Attribute types"].split("+"))) for row in made.values()} == {
        "+".join(sorted(row["Attribute types (paper)"].split("+"))) for row in made.values()
    }
    assert made["large rubber"]["Bits"] == "0.251629"
    assert {label: row["Split"] for label, row in made.items() if row["Split"]} == {
        "large rubber": "hope-02-large-rubber"
    }, "the one that was made of the whole vocabulary"


def test_table_2_tells_how_the_files_of_models_train(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    told = {"learning_rate": 2e-5, "batch_size": 16, "epochs": 3}
    (folder / "lxmert-s.yaml").write_text(json.dumps({"model": "lxmert", "training": {"optimisation": told}}))
    made = rows_of("table2", {"models": [folder]}, tmp_path, "clevr-hope")
    assert [row["LXMERT-s"] for row in made.values()] == ["2e-05", "3 passes", "16"]
    assert [row["LXMERT-p (paper)"] for row in made.values()] == ["5e-05", "218,750", "32"]
    assert {row["LXMERT-p"] for row in made.values()} == {""}


def test_figures_tell_models_diversities_and_of_how_many_runs_they_are(inputs):
    told = words_of(gap_lines, inputs, "figure2")
    for words in (
        "LXMERT-p",
        OURS,
        "diversity 24",
        "24 runs, 2 of each, of 6 pairs",
        "yes quarter",
        "0.25 at 4",
        "paper",
    ):
        assert words in " ".join(told.split()), words
    told = words_of(gap_lines, inputs, "figure13")
    assert "large cylinder" in told and "brown sphere" not in told and "of 4 pairs" in " ".join(told.split())


def test_the_map_tells_complex_gaps_above_the_diagonal_and_minimal_ones_below(inputs, runs):
    told = words_of(gap_heat, inputs, "figure23").splitlines()
    of = [run for run in runs if (run.model, run.variant, run.held.diversity) == (OURS, "large", 6)]
    for gap in ("complex", "minimal"):
        assert f"{fmean(GAPS[gap].of(run) for run in of):.1f}".replace("-", "−") in told
    assert "−13.3" in told and "−17.6" in told  # of the paper's size and material, as derived of its tables


def test_one_question_of_each_test_is_shown_with_the_pair(asked):
    told = words_of(pair_example, asked, "figure1")
    assert "Held out: rubber cylinder" in told
    assert {"train", "complex-IID", "minimal-IID", "minimal-OOD", "complex-OOD"} <= set(told.splitlines())


def test_a_group_has_one_yes_and_its_pictures(asked, tmp_path):
    told = words_of(minimal_group, asked, "figure7").splitlines()
    assert [word for word in told if word in ("yes", "no")] == ["yes", "no", "no", "no"]
    assert sum(line.startswith("Are there any rubber cylinders") for line in told) == 1
    figures.make(FOLDER / "figure7.yaml", asked, tmp_path / "figure7")
    with Image.open(tmp_path / "figure7.png") as image:
        assert image.width > 1500 and len(image.getcolors(1 << 22)) > 50


@pytest.mark.parametrize(("module", "name"), [(pair_example, "figure1"), (minimal_group, "figure7")])
def test_no_example_fails_without_questions_or_pictures(asked, tmp_path, module, name):
    parquet.write(tmp_path / "none.parquet", QUESTIONS, [])
    bare = {key: paths for key, paths in asked.items() if not key.startswith("images")}
    assert "no picture" in words_of(module, bare, name)
    assert "the dataset has no" in words_of(module, bare | {"dataset": [tmp_path / "none.parquet"]}, name)


def test_pages_are_of_pairs_that_have_a_file():
    assert {*PAIRS, *GRIDS} <= {path.stem for path in (PAPERS.parent / "splits/clevr").glob("*.yaml")}


def test_means_of_other_draws_are_not_joined_and_each_tells_how_many_they_are(tmp_path):
    ends = {name: told for name, told in GRIDS.items() if "-03-" in name or name.endswith(("-4", "-24"))}
    page = load(PAPERS / "clevr-hope/figure6.yaml")
    drawn = cut_gaps.make(written(tmp_path, made_up(ends, [OURS], 2, common=True)), page)
    ax = drawn.axes[0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["4\nn 2", "8\nn 1", "16\nn 1", "24\nn 2"]
    thick = [tuple(line.get_xdata()) for line in ax.lines if line.get_linewidth() == 2.2]
    assert sorted(thick) == [(0, 3), (1, 2)]
