"""The papers' own numbers and words in config/paper, checked against the papers' texts so that none is mistyped.

A file with rows of its own is called after the table that they are of, so a new one is checked as well.
"""

import re
from pathlib import Path

import pytest

from compvqa.errors import InputError
from compvqa.files import read_yaml
from compvqa.paper.data import plain
from compvqa.paper.reference import load, pages_of

PROJECT = Path(__file__).resolve().parents[3]
FOLDER = PROJECT / "config" / "paper"
PAPERS = PROJECT.parent / "shared" / "papers"
EMNLP, ARXIV, SUBMISSION = (PAPERS / f"covr-{name}.txt" for name in ("emnlp2021", "arxiv-html", "submission-lxmert"))
CLEVR, HOPE = PAPERS / "clevr-cvpr2017.txt", PAPERS / "systematicity-gap-clevr-hope.txt"
TEXTS = {
    "covr": EMNLP,
    "covr-submission": EMNLP,
    "clevr": CLEVR,
    "clevr-hope": HOPE,
}  # that quotes are from, by the paper's folder
NUMBER = re.compile(r"\d+(?:\.\d+)?k?")
TABLE = re.compile(r"(covr|covr-submission)/table(\d+)")
NUMERALS = {"zero": 0, "one": 1, "six": 6, "eight": 8}
DEFINITIONS = sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.glob("*/*.yaml"))
# Whose numbers no text of the paper has: those of somebody else, whom they name
ELSEWHERE = [name for name in DEFINITIONS if "whose" in read_yaml(FOLDER / f"{name}.yaml")]
OWN_TEST = "clevr-hope/"  # tests/unit/clevr/paper compares these with their paper's text
WITH_ROWS = [
    name
    for name in DEFINITIONS
    if name not in ELSEWHERE and not name.startswith(OWN_TEST) and "rows" in read_yaml(FOLDER / f"{name}.yaml")
]
WORDS = [
    name
    for name in WITH_ROWS
    if any(isinstance(value, str) for values in load(FOLDER / f"{name}.yaml").rows.values() for value in values)
]
NUMBERS = [name for name in WITH_ROWS if name not in WORDS]
PUBLISHED = [name for name in NUMBERS if name.startswith("covr/")]
SUBMITTED = [name for name in NUMBERS if name.startswith("covr-submission/")]

needs_papers = pytest.mark.skipif(
    not all(path.exists() for path in (EMNLP, ARXIV, SUBMISSION, CLEVR, HOPE)),
    reason="the papers' texts are not beside this checkout",
)


def test_files_with_rows_are_called_after_a_table():
    assert [name for name in WITH_ROWS if not TABLE.fullmatch(name)] == []
    assert {"covr/table6", "covr/table17"} <= set(PUBLISHED)
    assert "covr-submission/table15" in SUBMITTED and "covr/table4" in WORDS


def above_caption(paper: Path, name: str) -> list[str]:
    """The lines of a table: those above its caption, back to the caption before."""
    lines = paper.read_text(encoding="utf-8").splitlines()
    number = TABLE.fullmatch(name)[2]
    end = next(i for i, line in enumerate(lines) if line.startswith(f"Table {number}:"))
    start = max((i for i in range(end) if re.match(r"(Table|Figure) \d+:", lines[i])), default=0)
    return lines[start + 1 : end]


def numbers_in(text: str) -> list[float]:
    """The numbers in a text in order, "33.3k" as 33300."""
    found = NUMBER.findall(text)
    return [round(float(n.removesuffix("k")) * (1000 if n.endswith("k") else 1), 3) for n in found]


def printed_numbers(lines: list[str], label: str) -> list[float] | None:
    """The numbers in the line that starts with ``label``; None if there is no such line."""
    for line in lines:
        for cut in range(len(line) + 1):
            rest = line[cut:]
            if plain(line[:cut]) == plain(label) and not re.match(r"[-\w]", rest) and not rest.startswith(" ["):
                found = numbers_in(rest.replace("[linecolor=red]", " "))
                if found:
                    return found
    return None


def clean(text: str) -> str:
    """A line of the submission, whose text has marks of HTML and TeX, without them."""
    return re.sub(r"</?sub>|\\text|[${}_\\]", "", text.replace(r"\pm", "±"))


def submitted_lines(name: str) -> list[tuple[str, list[list[str]]]]:
    """The lines with numbers of a table of the submission: what stands first, and the values of each further cell.

    Cells are parted by tabs. A line may hold several rows, cell by cell.
    """
    value = r"(?:[\d.]+k?(?: *± *[\d.]+)?k?|-)"
    lines = []
    for line in above_caption(SUBMISSION, name):
        first, *cells = clean(line).split("\t")
        cells = [cell for cell in cells if cell.strip()]
        if cells and all(re.fullmatch(rf" *{value}(?: +{value})* *", cell) for cell in cells):
            lines.append((first, [re.findall(value, cell) for cell in cells]))
    return lines


def submitted_rows(name: str, labels: list[str]) -> dict[str, list[float]]:
    """The rows of a table of the submission by label."""
    rows = {}
    for first, cells in submitted_lines(name):
        together = [labels[start:end] for end in range(len(labels) + 1) for start in range(end)]
        (found,) = (some for some in together if plain("".join(some)) == plain(first))
        for place, label in enumerate(found):
            rows[label] = [number for cell in cells for number in numbers_in(cell[place])]
    return rows


def ours(reference, label: str, without: tuple[str, ...] = ()) -> list[float]:
    """Our copy of a row as one flat list of numbers."""
    flat = []
    for column in reference.columns:
        value = reference.value(label, column)
        if column not in without and value is not None:
            flat += [float(part) for part in (value if isinstance(value, tuple) else (value,))]
    return flat


@needs_papers
@pytest.mark.parametrize("name", PUBLISHED)
def test_every_number_stands_in_the_paper(name):
    """In the arXiv page with the generalization scores, and in the EMNLP paper, where they are only pictures, unless
    the citation says that a row is of the arXiv page."""
    reference = load(FOLDER / f"{name}.yaml")
    papers = {paper: above_caption(paper, name) for paper in (EMNLP, ARXIV)}
    assert reference.rows
    for label in reference.rows:
        for paper, lines in papers.items():
            expected = ours(reference, label, without=("Gen. Score",) if paper == EMNLP else ())
            numbers = printed_numbers(lines, reference.printed.get(label, label))
            assert numbers, f"{paper.name} has no row {label}"
            further = numbers[len(expected) :]  # of the paraphrased questions, in Table 3
            if numbers != expected + further or not all(
                f"{number:g}" in " ".join(reference.notes) for number in further
            ):
                assert paper == EMNLP and plain(label) in plain(reference.citation), (label, numbers, expected)


@needs_papers
@pytest.mark.parametrize("name", SUBMITTED)
def test_every_number_stands_in_the_submission(name):
    reference = load(FOLDER / f"{name}.yaml")
    labels = {reference.printed.get(label, label): label for label in reference.rows}
    printed = submitted_rows(name, list(labels))
    assert {labels[label]: numbers for label, numbers in printed.items()} == {
        label: ours(reference, label) for label in reference.rows
    }
    assert reference.apart


@needs_papers
@pytest.mark.parametrize("name", [name for name in NUMBERS if load(FOLDER / f"{name}.yaml").make != "iid"])
def test_columns_stand_in_the_papers_order(name):
    reference = load(FOLDER / f"{name}.yaml")
    wanted = plain("".join(reference.columns))
    lines = above_caption(ARXIV if name in PUBLISHED else SUBMISSION, name)
    assert any(plain(clean(line)).endswith(wanted) for line in lines)


@needs_papers
@pytest.mark.parametrize("name", NUMBERS)
def test_no_row_of_the_paper_is_left_out(name):
    reference = load(FOLDER / f"{name}.yaml")
    if name in PUBLISHED:
        lines = [line.replace("[linecolor=red]", "") for line in above_caption(ARXIV, name)]
        numbers = re.compile(rf"(?: (?:\d[\d./]*k?|-)){{{len(reference.columns)},}}$")
        printed = sum(bool(numbers.search(line)) for line in lines)
    else:
        printed = sum(len(cells[0]) for _, cells in submitted_lines(name))
    assert printed == len(reference.rows)


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
        if name in ("covr/table1", "covr/table11"):
            shown = [f"{label} {shown[0]}"]
        elif name == "covr/table10":
            shown = [" ".join([label, *shown])]
        for value in shown:
            assert plain(value) in text, value
    assert ours


@needs_papers
def test_no_template_or_operator_of_the_paper_is_left_out():
    templates = [plain(name) for name in load(FOLDER / "covr/table12.yaml").rows]
    for name in ("covr/table1", "covr/table2"):
        assert [plain(label) for label in load(FOLDER / f"{name}.yaml").rows] == templates
    text = EMNLP.read_text(encoding="utf-8")
    table = text[text.index("Operator Input Output") : text.index("Table 11: All program operators")]
    printed = re.findall(r"^((?:\w+/\n)*\w+) \(1\)|^(KeepIf\w+)/?$", table, re.MULTILINE)
    names = {name for pair in printed for name in pair if name}
    assert names == set(load(FOLDER / "covr/table11.yaml").rows)


@needs_papers
@pytest.mark.parametrize("name", [name for name in DEFINITIONS if name.partition("/")[0] in TEXTS])
def test_quotes_are_the_papers_words_and_hold_the_numbers(name):
    text = TEXTS[name.partition("/")[0]].read_text(encoding="utf-8")
    text = re.sub(r"-\n+(?=[a-z])", "", text)  # words cut at a line's end
    text = " ".join(re.sub(r"-\n+(?=[A-Z\d])", "-", text).split())  # and names, at a hyphen of their own
    for fact in load(FOLDER / f"{name}.yaml").facts.values():
        assert " ".join(fact.quote.split()) in text
        quote = re.sub(r"(?<=\d),(?=\d{3})", "", fact.quote)  # 853,554
        told = [NUMERALS.get(word, word) for word in re.findall(r"[a-z]+|\d+(?:\.\d+)?", quote)]
        if fact.value is not None:
            assert f"{fact.value:g}" in map(str, told)
        if fact.low is not None:
            assert f"{fact.low} to {fact.high}" in " ".join(map(str, told))
            assert re.search(rf"{fact.low}(-| to ){fact.high}$", fact.text)


def test_the_released_parts_of_clevr_add_up():
    released = load(FOLDER / "clevr/sizes.yaml").options["released"]
    parts = [sizes for part, sizes in released.items() if part != "All"]
    assert [sum(numbers) for numbers in zip(*parts, strict=True)] == released["All"]


def test_labels_match_up_to_case_and_punctuation():
    reference = load(FOLDER / "covr/table8.yaml")
    assert reference.value("has-count & has_attr", "gen score") == 0.82
    assert reference.label("hascounthasattr") == "HAS-COUNT & HAS-ATTR"
    assert reference.value("nowhere", "VBText") is None


def test_a_figure_may_show_the_rows_of_a_table():
    assert load(FOLDER / "covr/accuracy.yaml").value("COUNT", "VBiid") == 73.1


def test_a_page_may_show_the_rows_of_several_tables(tmp_path):
    for name, value in (("a", 1), ("b", 2)):
        table = f"title: x\ncitation: y\nkind: table\nmake: z\ninputs: []\ncolumns: [A]\nrows: {{r: [{value}]}}"
        (tmp_path / f"{name}.yaml").write_text(table)
    page = "title: x\ncitation: y\nkind: figure\nmake: z\ninputs: []\nrows_from: {one: a, two: b}"
    (tmp_path / "page.yaml").write_text(page)
    reference = load(tmp_path / "page.yaml")
    assert (reference.value("one: r", "A"), reference.value("two: r", "A")) == (1, 2)
    assert pages_of(reference.rows_from) == ["a", "b"] and pages_of("a") == ["a"] and pages_of(None) == []
    other = (tmp_path / "b.yaml").read_text().replace("[A]", "[B]")
    (tmp_path / "b.yaml").write_text(other)
    with pytest.raises(InputError, match="rows_from names b, whose columns are others"):
        load(tmp_path / "page.yaml")


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
        (
            "title: x\ncitation: y\nkind: table\nmake: z\ninputs: []\ncolumns: [A]\nshows: {B: {variant: iid}}",
            "shows names B, which is no column and no row",
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
