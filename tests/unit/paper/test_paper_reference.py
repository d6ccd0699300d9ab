"""The papers' own numbers in config/paper, checked against the papers' text so that none is mistyped."""

import re
from pathlib import Path

import pytest

from compvqa.errors import InputError
from compvqa.paper.data import plain
from compvqa.paper.reference import load

PROJECT = Path(__file__).resolve().parents[3]
FOLDER = PROJECT / "config" / "paper"
PAPERS = PROJECT.parent / "shared" / "papers"
EMNLP, ARXIV = PAPERS / "covr-emnlp2021.txt", PAPERS / "covr-arxiv-html.txt"
NUMBER = re.compile(r"\d+(?:\.\d+)?k?")
DEFINITIONS = sorted(path.stem for path in FOLDER.glob("*.yaml"))
TABLES = [name for name in DEFINITIONS if re.fullmatch(r"table\d+", name)]
WORDS = ["table1", "table2", "table5", "table10", "table11"]
NUMBERS = [name for name in TABLES if name not in WORDS]
# the two versions print other numbers in this row; ours are arXiv's
ARXIV_ONLY = {("table8", "Lexical Split")}

needs_papers = pytest.mark.skipif(
    not EMNLP.exists() or not ARXIV.exists(), reason="the papers' texts are not beside this checkout"
)


def above_caption(text: str, name: str) -> list[str]:
    """The lines of a table: those above its caption, back to the caption before."""
    lines = text.splitlines()
    number = name.removeprefix("table")
    end = next(i for i, line in enumerate(lines) if line.startswith(f"Table {number}:"))
    start = max((i for i in range(end) if re.match(r"(Table|Figure) \d+:", lines[i])), default=0)
    return lines[start + 1 : end]


def printed_numbers(lines: list[str], label: str) -> list[float] | None:
    """The numbers in the line that starts with ``label``, "33.3k" as 33300; None if there is no such line."""
    for line in lines:
        for cut in range(len(line) + 1):
            rest = line[cut:]
            if plain(line[:cut]) == plain(label) and not re.match(r"[-\w]", rest) and not rest.startswith(" ["):
                found = NUMBER.findall(rest.replace("[linecolor=red]", " "))
                if found:
                    return [round(float(n.removesuffix("k")) * (1000 if n.endswith("k") else 1), 3) for n in found]
    return None


def ours(reference, label: str, without: tuple[str, ...] = ()) -> list[float]:
    """Our copy of a row as one flat list of numbers."""
    flat = []
    for column in reference.columns:
        value = reference.value(label, column)
        if column not in without and value is not None:
            flat += [float(part) for part in (value if isinstance(value, tuple) else (value,))]
    return flat


@needs_papers
@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_stands_in_the_emnlp_paper(name):
    reference = load(FOLDER / f"{name}.yaml")
    lines = above_caption(EMNLP.read_text(encoding="utf-8"), name)
    assert reference.rows
    for label in reference.rows:
        if (name, label) in ARXIV_ONLY:
            continue
        numbers = printed_numbers(lines, reference.printed.get(label, label))
        if name == "table3" and label == "avg. # question words":
            assert numbers.pop() == 11.9  # of the paraphrased questions, named in the notes
        # the EMNLP text has the generalization scores only as pictures
        assert numbers == ours(reference, label, without=("Gen. Score",)), label


@needs_papers
@pytest.mark.parametrize("name", ["table7", "table8"])
def test_generalization_scores_stand_in_the_arxiv_page(name):
    reference = load(FOLDER / f"{name}.yaml")
    lines = above_caption(ARXIV.read_text(encoding="utf-8"), name)
    for label in reference.rows:
        assert printed_numbers(lines, label) == ours(reference, label), label


@needs_papers
@pytest.mark.parametrize("name", NUMBERS)
def test_no_row_of_the_paper_is_left_out(name):
    reference = load(FOLDER / f"{name}.yaml")
    text = ARXIV.read_text(encoding="utf-8").replace("[linecolor=red]", "")
    numbers = re.compile(rf"(?: (?:\d[\d./]*k?|-)){{{len(reference.columns)},}}$")
    printed = [line for line in above_caption(text, name) if numbers.search(line)]
    assert len(printed) == len(reference.rows)


@needs_papers
@pytest.mark.parametrize("name", WORDS)
def test_words_are_the_papers(name):
    reference, text = load(FOLDER / f"{name}.yaml"), plain(EMNLP.read_text(encoding="utf-8"))
    ours = 0
    for label, values in reference.rows.items():
        label = reference.printed.get(label, label)
        shown = [value for value in values if value is not None]
        ours += len(shown)
        # Tables 1 and 11 print a row's words right after its label, Table 10 all of a row together
        if name in ("table1", "table11"):
            shown = [f"{label} {shown[0]}"]
        elif name == "table10":
            shown = [" ".join([label, *shown])]
        for value in shown:
            assert plain(value) in text, value
    assert ours


@needs_papers
def test_no_template_or_operator_of_the_paper_is_left_out():
    templates = [plain(name) for name in load(FOLDER / "table12.yaml").rows]
    for name in ("table1", "table2"):
        assert [plain(label) for label in load(FOLDER / f"{name}.yaml").rows] == templates
    text = EMNLP.read_text(encoding="utf-8")
    table = text[text.index("Operator Input Output") : text.index("Table 11: All program operators")]
    printed = re.findall(r"^((?:\w+/\n)*\w+) \(1\)|^(KeepIf\w+)/?$", table, re.MULTILINE)
    names = {name for pair in printed for name in pair if name}
    assert names == set(load(FOLDER / "table11.yaml").rows)


@needs_papers
@pytest.mark.parametrize("name", DEFINITIONS)
def test_quotes_are_the_papers_words_and_hold_the_numbers(name):
    text = re.sub(r"-\n+(?=[a-z])", "", EMNLP.read_text(encoding="utf-8"))  # words cut at a line's end
    text = " ".join(text.split())
    for fact in load(FOLDER / f"{name}.yaml").facts.values():
        assert " ".join(fact.quote.split()) in text
        if fact.value is not None:
            assert f"{fact.value:g}" in NUMBER.findall(fact.quote)


@needs_papers
def test_the_ranges_of_figure_6_are_those_of_the_words():
    words = {"zero": 0, "one": 1, "six": 6, "eight": 8}
    for fact in load(FOLDER / "figure6.yaml").facts.values():
        low, high = (words[word] for word in re.findall(r"(\w+) to (\w+)", fact.quote)[0])
        assert (fact.low, fact.high) == (low, high)
        assert fact.text.endswith(f"{low}-{high}")


def test_labels_match_up_to_case_and_punctuation():
    reference = load(FOLDER / "table8.yaml")
    assert reference.value("has-count & has_attr", "gen score") == 0.82
    assert reference.label("hascounthasattr") == "HAS-COUNT & HAS-ATTR"
    assert reference.value("nowhere", "VBText") is None


def test_a_figure_may_show_the_rows_of_a_table():
    assert load(FOLDER / "accuracy.yaml").value("COUNT", "VBiid") == 73.1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("title: x\nkind: table", "citation"),
        ("titel: x", "citation|titel|title"),
        ("[1, 2]", "no mapping"),
        ("a: [", "not valid YAML"),
        (
            "title: x\ncitation: y\nkind: table\nmake: z\ninputs: []\ncolumns: [A, B]\nrows: {r: [1]}",
            "row r has 1",
        ),
    ],
)
def test_a_wrong_file_is_one_clear_sentence(tmp_path, text, words):
    path = tmp_path / "table99.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as error:
        load(path)
    assert "table99.yaml" in str(error.value)


def test_a_missing_file_is_one_clear_sentence(tmp_path):
    with pytest.raises(InputError, match="cannot be opened"):
        load(tmp_path / "nothing.yaml")
