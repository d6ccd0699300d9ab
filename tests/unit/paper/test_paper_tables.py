"""Each of the paper's tables from our tables."""

import csv
import html
import re
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compvqa.errors import InputError
from compvqa.evaluation.analyses.distractors import KINDS
from compvqa.graphs.subgraph import Edge, make
from compvqa.paper import tables
from compvqa.paper.reference import load
from compvqa.programs.operators import OPERATORS, Row, from_json, listing, to_json, walk
from compvqa.questions.covr import references
from fixtures.paper_inputs import NASTY, PARTS, SEEDS
from fixtures.table10 import ROWS

FOLDER = Path(__file__).resolve().parents[3] / "config" / "paper"
TABLES = sorted(path.stem for path in FOLDER.glob("*.yaml") if load(path).kind == "table")


def rows_of(name: str, inputs: dict, out: Path) -> dict[str, dict[str, str]]:
    """Make the table ``name`` and read its CSV back, by the first column."""
    tables.make(FOLDER / f"{name}.yaml", inputs, out / name)
    with (out / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return {next(iter(row.values())): row for row in csv.DictReader(file)}


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_made_twice_with_the_same_bytes(world, tmp_path, name):
    made = []
    for folder in ("a", "b"):
        counts = tables.make(FOLDER / f"{name}.yaml", world.inputs, tmp_path / folder / name)
        made.append({p.name: p.read_bytes() for p in sorted((tmp_path / folder).iterdir())})
    assert made[0] == made[1]
    assert sorted(made[0]) == [f"{name}.csv", f"{name}.html", f"{name}.tex"]
    assert counts["out"] > 0


@pytest.mark.parametrize("name", TABLES)
def test_no_table_fails_when_there_are_no_questions(nothing, tmp_path, name):
    assert rows_of(name, nothing, tmp_path)


def test_table_3_counts_what_is_there(world, tmp_path):
    rows = rows_of("table3", world.inputs, tmp_path)
    assert rows["# total questions"]["Train"] == str(PARTS["train"])
    assert rows["# total questions"]["Dev.+Test"] == str(PARTS["dev"] + PARTS["test"])
    assert rows["# total questions"]["Train (paper)"] == "248.1k"
    assert rows["avg. # images per question"]["Train (paper)"] == "4.4"
    assert all(row["Train"] for row in rows.values())


def test_table_3_has_the_programs_of_all_parts_beside_the_papers_640(world, tmp_path):
    row = rows_of("table3", world.inputs, tmp_path)["# unique anonymized programs"]
    assert row["All (paper)"] == "640" and row["All"] == "4"  # a program a template


def test_table_1_has_an_example_of_each_template_that_was_asked(world, tmp_path):
    rows = rows_of("table1", world.inputs, tmp_path)
    assert list(rows)[:3] == ["VERIFYATTR", "CHOOSEATTR", "QUERYATTR"] and len(rows) == 15
    texts = {row["text"]: row["template"] for row in pq.read_table(world.dataset).to_pylist()}
    asked = {name: row["Example"] for name, row in rows.items() if row["Example"]}
    assert {name: texts[text] for name, text in asked.items()} == {name: name for name in set(texts.values())}
    assert rows["CHOOSEREL"]["Example (paper)"] == "Is the sitting man holding a hat or wearing it?"


def test_table_2_says_what_a_templates_file_asks_for(world, tmp_path):
    rows = rows_of("table2", world.inputs, tmp_path)
    wanted = rows["VERIFYATTR"]["Preconditions"].splitlines()
    assert "(1) the subgraph has a relation" in wanted and "(2) the root has an attribute" in wanted
    assert "(3) distractors differ in the root's attribute" in wanted
    assert "(4) preferred: those that differ in the root's attribute and in one more node" in wanted
    assert "(5) each reference is to one object in all images" in wanted
    assert "distractors differ in the object at a leaf and in one more node" in rows["CHOOSEOBJECT"]["Preconditions"]
    assert "than are annotated (objects)" in rows["COUNT"]["Preconditions"]
    assert "color of building, tree, sign … (8 more)" in rows["QUERYATTR"]["Preconditions"]
    assert rows["VERIFYCOUNT"]["Text"].splitlines()[0] == "There {is} {quantity} {ref:{form}}"
    assert rows["VERIFYATTR"]["Example output (paper)"] == "Is the sink that is below a towel, white?"


def test_table_2_has_the_subgraph_and_a_distractor_of_its_example(world, tmp_path):
    rows = rows_of("table2", world.inputs, tmp_path)
    questions = {row["text"]: row for row in pq.read_table(world.dataset).to_pylist()}
    shown = rows["COUNT"]["Example subgraphs"].splitlines()
    _, color, noun = re.match(r"(.*): what of the (\w+) (.+) near a box", rows["COUNT"]["Example output"]).groups()
    assert rows["COUNT"]["Example output"] in questions
    assert shown[0] == f"g: a {color} {noun} that is near a box"
    assert shown[1] in (
        f"distractor (box → cone): a {color} {noun} that is near a cone",
        f"distractor ({noun} → star, {color} → red): a red star that is near a box",
    )


def test_table_5_counts_the_questions_of_each_property(world, tmp_path):
    rows = rows_of("table5", world.inputs, tmp_path)
    questions = pq.read_table(world.dataset).to_pylist()
    counts = Counter(row["template"] for row in questions)
    assert int(rows["HAS-QUANT"]["Questions"]) == int(rows["HAS-QUANT-ALL"]["Questions"]) == counts["VERIFYQUANT"]
    assert int(rows["HAS-QUANT-COMPSCOPE"]["Questions"]) == counts["VERIFYQUANT"]
    assert int(rows["HAS-COUNT"]["Questions"]) == counts["COUNT"] + counts["VERIFYCOUNT"]
    assert int(rows["ANS-NUM"]["Questions"]) == sum(row["answer"].isdecimal() for row in questions)
    assert rows["HAS-GROUPBY"]["Questions"] == "0" and rows["HAS-GROUPBY"]["Example"] == ""
    assert rows["LEXICAL-box"]["Questions"] == str(len(questions))  # all have it and "near"
    texts = {row["text"] for row in questions if row["template"] == "VERIFYQUANT"}
    assert rows["HAS-QUANT"]["Example"] in texts
    assert rows["RM/V/C"]["True of a question if … (paper)"].startswith("True if g’s structure")


@pytest.mark.parametrize("alike", [False, True])
def test_table_10_runs_an_example_beside_or_above_the_papers_program(world, tmp_path, alike):
    """The world has no question of its template; told so, the table takes a program for that of the paper."""
    inputs = world.inputs
    if alike:
        fields = pq.read_schema(world.dataset)
        (row, *_) = pq.read_table(world.dataset).to_pylist()
        book = make("book", None, (Edge("on", make("table", "wood")),))
        ends = [Row("GroupByImages", (), (3,)), Row("KeepIfValuesCountEq", (2,), (4,)), Row("Count", (), (5,))]
        row |= {"template": "COUNTGROUPBY", "program": to_json([*references.rows(book), *ends]), "answer": "0"}
        pq.write_table(pa.Table.from_pylist([row], schema=fields), tmp_path / "alike.parquet")
        inputs = inputs | {"dataset": [tmp_path / "alike.parquet"]}
    tables.make(FOLDER / "table10.yaml", inputs, tmp_path / "table10")
    with (tmp_path / "table10.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    papers = [(row["Index"], row["Operator (paper)"], row["Arguments (paper)"]) for row in rows]
    assert [row for row in papers if row[1]] == ROWS
    ours = [(row["Index"], row["Operator"], row["Arguments"]) for row in rows if row["Operator"]]
    assert (papers == ours) == alike and (len(rows) == len(ROWS)) == alike
    (text,) = re.findall(r"Our question \(\w+\): “(.*?)” Its answer", (tmp_path / "table10.html").read_text())
    asked = [row for row in pq.read_table(inputs["dataset"][0]).to_pylist() if row["text"] == html.unescape(text)]
    assert ours == list(listing(from_json(asked[0]["program"])))


def test_table_11_lists_all_operators_the_papers_first(world, tmp_path):
    rows = rows_of("table11", world.inputs, tmp_path)
    assert set(rows) == set(OPERATORS) and next(iter(rows)) == "All"
    programs = [from_json(text) for text in pq.read_table(world.dataset)["program"].to_pylist()]
    counts = Counter(name for program in programs for name in {row.operation for row in walk(program)})
    assert {name: int(row["Questions"]) for name, row in rows.items()} == {name: counts[name] for name in OPERATORS}
    assert (
        rows["WithRelation"]["Input"] == "(1) objects (2) objects (3) relation, and objects for each relation modifier"
    )
    assert rows["WithRelation"]["Input (paper)"] == "(1) objects1, (2) objects2 (3) relation"
    assert rows["geq"]["Input"] == "(1) number (2) number (or a size)" and rows["Scene"]["Input"] == "nothing"
    page = (tmp_path / "table11.html").read_text()
    assert "Only in the paper&#39;s table: none." in page and "Not in the paper&#39;s table: Scene," in page


def test_table_6_shows_means_and_deviations_over_seeds(world, tmp_path):
    rows = rows_of("table6", world.inputs, tmp_path)
    values = [45.0 + 1.3 * seed for seed in SEEDS]
    mean = sum(values) / 2
    spread = sum((value - mean) ** 2 for value in values) ** 0.5
    assert float(rows["VBText"]["Development"]) == pytest.approx(mean)
    assert float(rows["VBText"]["Development deviation"]) == pytest.approx(spread, abs=1e-5)
    assert rows["VBText"]["Development (paper)"] == "45.6"
    assert rows["Humans"]["Test"] == "" and rows["Humans"]["Test (paraphrased) (paper)"] == "91.9"


def test_table_7_has_trained_untrained_empty_and_missing_splits(world, tmp_path):
    rows = rows_of("table7", world.inputs, tmp_path)
    trained = rows["HAS-NUM-3"]
    text, comp, size = (float(trained[name]) for name in ("VBText", "VB_M", "VBiid-size"))
    assert float(trained["Gen. Score"]) == pytest.approx((comp - text) / (size - text), abs=1e-5)
    assert trained["Filtered"] == str(PARTS["train"] - 200)
    assert rows["HAS-COMPAR"]["Filtered"] == str(PARTS["train"] - 150)
    notes = {name: rows[name]["note"] for name in rows}
    assert notes["HAS-COMPAR"] == "not trained"
    assert notes["HAS-QUANT-ALL"] == "empty"
    assert notes["ANS-NUM"] == "not made" and rows["ANS-NUM"]["VBiid (paper)"] == "67.0"
    assert "HAS-QUANT-ALL is empty: no question" in (tmp_path / "table7.html").read_text()


def test_table_8_marks_a_model_below_the_text_baseline(world, tmp_path):
    rows = rows_of("table8", world.inputs, tmp_path)
    assert float(rows["TPL-VERIFYATTR"]["Gen. Score"]) == 0
    page = (tmp_path / "table8.html").read_text()
    assert len(re.findall(r'<td class="ours low">', page)) == 1
    assert rows["Program Split"]["VBiid (paper)"] == "64.8 ± 4.7"


def test_a_split_of_ours_that_the_paper_has_not_comes_after_the_papers(world, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("name: own\ntitle: HAS-SHADE\nsetup: few-shot\n")
    inputs = {**world.inputs, "definitions": [*world.inputs["definitions"], own]}
    assert list(rows_of("table7", inputs, tmp_path))[-1] == "HAS-SHADE"


def test_random_draws_of_one_split_share_a_row(world, tmp_path):
    """Two splits of the title of Table 8's program split: means and deviations over both."""
    made, sizes = [], {"program-1": 100, "program-2": 140}
    for name, kept in sizes.items():
        made.append(tmp_path / f"{name}.yaml")
        made[-1].write_text(f"name: {name}\ntitle: Program Split\nsetup: zero-shot\n")
        rows = [{"split_name": name, "part": "train", "question_id": f"train{n}"} for n in range(kept)]
        rows.append({"split_name": name, "part": "test_comp", "question_id": "test0"})
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"{name}.parquet")
    inputs = world.inputs | {
        "definitions": [*world.inputs["definitions"], *made],
        "splits": [*world.inputs["splits"], *(tmp_path / f"{name}.parquet" for name in sizes)],
    }
    found = rows_of("table8", inputs, tmp_path)["Program Split"]
    assert float(found["Filtered"]) == PARTS["train"] - 120
    assert float(found["Filtered deviation"]) == pytest.approx((2 * 20**2) ** 0.5, abs=1e-4)
    assert found["note"] == "not trained"


def test_table_12_says_which_templates_have_no_questions(world, tmp_path):
    rows = rows_of("table12", world.inputs, tmp_path)
    assert rows["CHOOSEREL"]["note"] == "no questions"
    asked = Counter(pq.read_table(world.dataset, filters=[("part", "=", "test")])["template"].to_pylist())
    assert rows["COUNT"]["Questions (test)"] == str(asked["COUNT"])
    assert rows["COUNT"]["note"] == "" and rows["COUNT"]["VBiid (paper)"] == "73.1"


def test_accuracy_by_property_has_kinds_and_below_them_values(world, tmp_path):
    rows = rows_of("accuracy-properties", world.inputs, tmp_path)
    names = list(rows)
    assert names[:3] == ["HAS-QUANT", "HAS-QUANT-ALL", "HAS-QUANT-SOME"]
    assert names.index("HAS-NUM-2") == names.index("HAS-NUM") + 1  # a number that the questions have
    assert names[-3:] == ["ANS-NUM", "ANS-ATTR", "ANS-NOUN"]
    scores = pq.read_table(world.inputs["scores"][0]).to_pandas()
    ours = scores[(scores["part"] == "test") & (scores["property"] == "HAS-NUM-2") & (scores["split"] == "iid")]
    for column, variant in (("VBText", "text"), ("VBiid", "iid")):
        told = ours[(ours["variant"] == variant) & (ours["model"] == "visualbert")]["accuracy"]
        assert float(rows["HAS-NUM-2"][column]) == pytest.approx(100 * told.mean(), abs=1e-3)
        assert float(rows["HAS-NUM-2"][f"{column} deviation"]) == pytest.approx(100 * told.std(ddof=1), abs=1e-3)
    assert rows["HAS-NUM-2"]["Questions (test)"] == "20"
    assert (rows["RM/V/C"]["Questions (test)"], rows["RM/V/C"]["note"]) == ("0", "no questions")


def test_sources_account_for_every_record(world, tmp_path):
    rows = rows_of("sources", world.inputs, tmp_path)
    for kind, refused in (("Objects", 3), ("Relations", 1), ("Scenes", 0)):
        assert int(rows["sprites"][f"{kind} in"]) - int(rows["sprites"][f"{kind} out"]) == refused
    assert rows["sprites"]["Left out"] == "4" and rows["no name"]["Left out"] == "3"
    assert rows["verbs"]["Left out"] == "0"


def test_drops_add_up_and_explain_an_empty_template(world, tmp_path):
    rows = rows_of("drops", world.inputs, tmp_path)
    templates = {name for name, row in rows.items() if row["Generated"] and name != "all"}
    assert templates == {"COUNT", "VERIFYATTR", "VERIFYCOUNT", "VERIFYQUANT", "QUERYATTR"}
    for column in list(rows["all"])[1:]:
        assert int(rows["all"][column]) == sum(int(rows[name][column]) for name in templates)
    for name in (*templates, "all"):
        reasons = [row for label, row in rows.items() if label.startswith(f"{name}: ")]
        assert int(rows[name]["Dropped"]) == sum(int(row["Dropped"]) for row in reasons)
    assert rows["VERIFYATTR: no 0_attr negative"]["Dropped"] == "31"
    assert rows["VERIFYATTR"]["Generated"] == "0"
    assert "VERIFYATTR has no questions: no 0_attr negative (31)" in (tmp_path / "drops.html").read_text()


def test_validity_is_compared_with_the_papers_17_and_53_to_17(world, tmp_path):
    rows = rows_of("validity", world.inputs, tmp_path)
    everything = rows["all"]
    assert (everything["Invalid (%)"], everything["Invalid (%) (paper)"]) == ("25", "17.0")
    assert (everything["Missing (% of invalid)"], everything["Missing (% of invalid) (paper)"]) == (
        "50",
        "53.0",
    )
    assert everything["Wrong (% of invalid) (paper)"] == "17.0"
    shares = [float(value) for name, value in everything.items() if name.endswith("of invalid)")]
    assert sum(shares) == pytest.approx(100)


def lines_of(name: str, inputs: dict, out: Path) -> list[list[str]]:
    """Make the table ``name`` and read the lines of its CSV, in which labels may come again."""
    tables.make(FOLDER / f"{name}.yaml", inputs, out / name)
    with (out / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_filters_are_compared_chain_by_chain_for_each_template(world, tmp_path):
    head, *lines = lines_of("filters", world.inputs, tmp_path)
    chains = ["no filter", "images (toy)", "words (toy)", "words (toy) and images (toy)"]
    templates = ["mean of all templates", "COUNT", "VERIFYQUANT"]
    assert [line[0] for line in lines] == [label for template in templates for label in (template, *chains)]
    judged = pq.read_table(world.inputs["validity"][0]).to_pandas()
    shares = 100 * (judged["cause"] == "wrong").groupby(judged["template"]).mean()
    wrong, last = head.index("Wrong (%)"), head.index("Of no filter's (%)")
    assert [float(lines[place][wrong]) for place in (1, 6, 11)] == pytest.approx([shares.mean(), *shares])
    assert {line[last] for line in lines if line[0] in chains} == {"100"}  # the fixture gives all of them the same


def test_false_distractors_are_counted_for_both_filters_and_for_the_second_after_the_first(world, tmp_path):
    head, *lines = lines_of("distractors", world.inputs, tmp_path)
    labels = [line[0] for line in lines if line[0] not in KINDS]
    both = "words (toy) and images (toy)"
    assert labels == ["no filter", "images (toy)", "words (toy)", f"{both}: images, of what words left", both]
    assert [line[0] for line in lines[1:5]] == list(KINDS)
    judged = pq.read_table(world.inputs["distractors"][0]).to_pandas()
    judged = judged[(judged["arm"] == "toy-toy") & (judged["dropped"] != "words")]
    line = next(line for line in lines if line[0] == labels[3])
    kept, found = judged[judged["dropped"] == ""], judged[judged["dropped"] == "images"]
    told = {name: float(line[head.index(name)]) for name in ("Judged", "Precision (%)", "Kept ones that lack it (%)")}
    assert told == pytest.approx(
        {
            "Judged": len(judged),
            "Precision (%)": 100 * (found["cause"] != "").mean(),
            "Kept ones that lack it (%)": 100 * (kept["cause"] == "").mean(),
        }
    )
    assert line[head.index("Kept ones that lack it (%) (paper)")] == "95.0"


def test_the_word_filter_stands_beside_the_papers_accuracies_on_held_out_pairs(world, tmp_path):
    rows = rows_of("words", world.inputs, tmp_path)
    assert list(rows) == ["Nouns: held-out pairs", "Nouns: held-out words", "Attributes: held-out pairs"]
    nouns = rows["Nouns: held-out pairs"]
    assert (nouns["Word filter (%)"], nouns["Word filter (%) (paper)"]) == ("95", "94.4")
    assert (nouns["Pairs"], nouns["95 % interval"], nouns["Lexicon (%)"]) == ("20", "50.0 – 100.0", "100")
    words = rows["Nouns: held-out words"]
    assert (words["Word filter (%)"], words["Word filter (%) (paper)"]) == ("75", "")
    assert rows["Attributes: held-out pairs"]["Word filter (%) (paper)"] == "95.7"
    assert "always right" in (tmp_path / "words.html").read_text()


def test_strange_names_never_become_markup(world, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text(f"name: own\ntitle: '{NASTY}'\nsetup: few-shot\n")
    tables.make(FOLDER / "table7.yaml", {**world.inputs, "definitions": [own]}, tmp_path / "t")
    assert "</script>" not in (tmp_path / "t.html").read_text()


def test_wrong_input_is_one_clear_sentence(world, tmp_path):
    with pytest.raises(InputError, match="input scores is missing"):
        tables.make(FOLDER / "table6.yaml", {}, tmp_path / "t")
    with pytest.raises(InputError, match="lacks the column"):
        tables.make(FOLDER / "table6.yaml", {"scores": world.inputs["statistics"]}, tmp_path / "t")
    with pytest.raises(InputError, match="takes one path and got 2"):
        tables.make(FOLDER / "table6.yaml", {"scores": world.inputs["scores"] * 2}, tmp_path / "t")
    with pytest.raises(InputError, match="no table called answers"):
        tables.make(FOLDER / "figure4.yaml", world.inputs, tmp_path / "t")
