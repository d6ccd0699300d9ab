"""Each of the paper's tables from our tables."""

import csv
import html
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compvqa.covr.judging.distractors import KINDS
from compvqa.covr.language import OPERATORS
from compvqa.covr.questions import references
from compvqa.covr.subgraphs.subgraph import Edge, make
from compvqa.errors import InputError
from compvqa.paper import tables
from compvqa.paper.reference import load
from compvqa.programs.printed import listing
from compvqa.programs.rows import Row, from_json, to_json, walk
from fixtures.paper_inputs import NASTY, PARTS
from fixtures.paper_tables import FOLDER, rows_of
from fixtures.table10 import ROWS

TABLES = sorted(path.stem for path in FOLDER.glob("*.yaml") if load(path).kind == "table")


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
    wanted = rows["QUERYATTR"]["Preconditions"]
    assert "not asked: color of things called building, tree, sign … (8 more)" in wanted
    assert "not asked of things called color, material, pattern … (2 more)" in wanted
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


def test_table_4_has_questions_of_both_sides_of_a_split(world, tmp_path):
    rows = rows_of("table4", world.inputs, tmp_path)
    parts = {row["text"]: row["part"] for row in pq.read_table(world.dataset).to_pylist()}
    for label in ("TPL-VERIFYATTR", "HAS-COUNT & HAS-ATTR"):
        assert parts[rows[label]["Generalization"]] == "test"
        assert {parts[text] for text in rows[label]["Training"].splitlines()} == {"train"}
    assert rows["HAS-SAMEATTR-COLOR"]["Generalization"] == ""
    assert rows["HAS-SAMEATTR-COLOR"]["Generalization (paper)"] == "Do all X have the same color?"
    assert "since it was not made: HAS-QUANT-COMPSCOPE" in (tmp_path / "table4.html").read_text()


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


def test_intervals_of_invalid_questions_take_those_of_a_scene_together(world, tmp_path):
    """As a bootstrap that draws scenes does; and nothing is coloured by the paper's 17, which is of other data."""
    row = rows_of("validity", world.inputs, tmp_path)["all"]
    judged = pq.read_table(world.inputs["validity"][0]).to_pandas()
    scenes = [(~of["valid"]).to_numpy() for _, of in judged.groupby("start_scene")]
    random = np.random.default_rng(1)
    drawn = (np.concatenate([scenes[i] for i in random.integers(len(scenes), size=len(scenes))]) for _ in range(4000))
    low, high = np.percentile([100 * of.mean() for of in drawn], [2.5, 97.5])
    assert float(row["Invalid (%) low"]) == pytest.approx(low, abs=2)
    assert float(row["Invalid (%) high"]) == pytest.approx(high, abs=2)
    page = (tmp_path / "validity.html").read_text()
    assert "those that start from one scene are alike" in html.unescape(page)
    assert not re.search(r'class="ours (inside|outside)"', page)


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


def test_the_surest_questions_are_told_by_their_risk(world, tmp_path):
    head, *lines = lines_of("risk", world.inputs, tmp_path)
    rows = {line[0]: dict(zip(head, line, strict=True)) for line in lines}
    assert list(rows) == ["COUNT", "VERIFYQUANT", "mean of all templates", "worst template"]
    surest = [float(rows["COUNT"][f"Invalid of the surest {share} % (%)"]) for share in (80, 60, 40, 20)]
    k, n, z = 2, 32, 1.959964  # Wilson's interval, by its formula: hardly any start from one scene
    middle, half = (k + z**2 / 2) / (n + z**2), z * (k * (n - k) / n + z**2 / 4) ** 0.5 / (n + z**2)
    column = "Invalid of the surest 80 % (%)"
    ends = [float(rows["COUNT"][f"{column} {end}"]) for end in ("low", "high")]
    assert rows["COUNT"][f"{column} n"] == "32"
    assert ends == pytest.approx([100 * (middle - half), 100 * (middle + half)], abs=0.3)
    assert float(rows["COUNT"]["AUC"]) == 1 and surest == [pytest.approx(100 * 2 / 32), 0, 0, 0]
    assert 0.5 < float(rows["VERIFYQUANT"]["AUC"]) < 1
    judged = pq.read_table(world.inputs["validity"][0]).to_pandas()
    shares = 100 * (~judged["valid"]).groupby(judged["template"]).mean()
    assert float(rows["mean of all templates"]["Invalid (%)"]) == pytest.approx(shares.mean())
    assert float(rows["worst template"]["Invalid in the dataset (%)"]) == pytest.approx(shares.max())


def test_the_word_filter_stands_beside_the_papers_accuracies_on_held_out_pairs(world, tmp_path):
    rows = rows_of("words", world.inputs, tmp_path)
    assert list(rows) == ["Nouns: held-out pairs", "Nouns: held-out words", "Attributes: held-out pairs"]
    nouns = rows["Nouns: held-out pairs"]
    assert (nouns["Word filter (%)"], nouns["Word filter (%) (paper)"]) == ("95", "94.4")
    assert (nouns["Pairs"], nouns["95 % interval"], nouns["Lexicon (%)"]) == ("20", "50.0 – 100.0", "100")
    words = rows["Nouns: held-out words"]
    assert (words["Word filter (%)"], words["Word filter (%) (paper)"]) == ("75", "")
    in_context = ("In context", "Exclusive (%)", "By the lexicon (%)")
    assert [nouns[name] for name in in_context] == ["40", "50", "25"]
    assert [words[name] for name in in_context] == ["", "", ""]
    text = " ".join((tmp_path / "words.html").read_text().split())
    assert (
        "of 40 pairs of nouns in context whose names they know: 75.0 % are called the same; the chain calls 50.0 %"
        in text
    )


def test_kinds_for_which_the_image_filter_is_off_are_told_with_the_reason(world, tmp_path):
    rows = rows_of("thresholds", world.inputs, tmp_path)
    assert {name: (row["AUC (%)"], row["Filter"], row["Bad found (%)"]) for name, row in rows.items()} == {
        "Objects": ("90", "on", "80"),
        "Relations": ("50", "off", ""),
    }
    assert rows["Objects"]["Kept ones that lack it (%) (paper)"] == "95.0"
    page = (tmp_path / "thresholds.html").read_text()
    assert "Off for relations: it is bad." in page and "images that differ in attributes" in page


def test_no_number_of_the_paper_stands_beside_labels_that_are_the_lexicons_own(world, tmp_path):
    attributes = rows_of("words", world.inputs, tmp_path)["Attributes: held-out pairs"]
    assert attributes["Word filter (%) (paper)"] == ""
    assert "labels of attributes are the lexicon" in (tmp_path / "words.html").read_text()


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
    with pytest.raises(InputError, match="describes a figure, not a table"):
        tables.make(FOLDER / "figure4.yaml", world.inputs, tmp_path / "t")
