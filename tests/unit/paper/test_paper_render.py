"""Tables as CSV, HTML and LaTeX."""

import csv
import io
import re
from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from compvqa.paper.render import NEAR, Cell, Row, Table, save, tex, to_csv, to_html, to_latex, written

NASTY = 'a</script><b>&"'


class Text(HTMLParser):
    """All text of a page, and the tags in it."""

    def __init__(self, page: str):
        super().__init__()
        self.words, self.tags = [], []
        self.feed(page)

    def handle_data(self, data):
        self.words.append(data)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)


def table(*rows: Row, columns=("A", "B")) -> Table:
    return Table("Title", "a citation", "Split", columns, rows, ("a note",))


def test_our_value_and_the_papers_stand_in_one_row():
    page = to_html(table(Row("HAS-NUM-3", (Cell(68.123, 0.94, 70.8), Cell(1234, paper=33300, form="count")))))
    text = " ".join(" ".join(Text(page).words).split())
    assert "HAS-NUM-3 68.1 ± 0.9 70.8 1,234 33.3k" in text
    assert "Grey: the paper's own numbers." in text


def test_a_line_may_end_in_the_names_of_columns_and_before_the_papers_deviation_and_in_no_number():
    """So that a table of many columns is as narrow as it can be."""
    page = to_html(table(Row("x", (Cell(1.0, paper=(43.8, 4.5)), Cell("2", paper="10 of 21"))), columns=("A+B+C", "D")))
    assert ">A+<wbr>B+<wbr>C</th>" in page and "A+B+C" in "".join(Text(page).words)
    assert '<td class="paper">43.8 ±\u00a04.5</td>' in page and '<td class="paper">10\u00a0of\u00a021</td>' in page


def test_labels_of_rows_end_their_lines_between_words_on_narrow_screens():
    """A browser makes a column no narrower than its least text: a letter, where any letter may end a line."""
    rules = re.findall(r"(table\.results th:first-child) \{([^}]*)\}", to_html(table()))
    assert len(rules) == 2 and not any("anywhere" in rule or "break-all" in rule for _, rule in rules)


def test_numbers_that_others_give_are_called_theirs():
    cells = (Cell(0.5, paper=0.52, form="score", interval=(0.5, 0.53)), Cell(1.0))
    theirs = replace(table(Row("x", cells)), whose="Santoro et al.")
    words = " ".join(" ".join(Text(to_html(theirs)).words).split())
    assert "Grey: numbers of Santoro et al." in words and "points (a score: 0.1) of the grey value" in words
    assert "the paper" not in words
    assert to_csv(theirs).startswith("Split,A,A low,A high,A (Santoro et al.),B\n")


def test_without_numbers_of_the_paper_there_is_no_grey_column():
    page = to_html(table(Row("x", (Cell(1.0), Cell(2.0)))))
    assert 'class="paper"' not in page
    assert "Grey" not in page


def test_a_row_that_was_not_trained_says_so_beside_the_papers_numbers():
    row = Row("x", (Cell(40, form="count"), Cell(paper=50.8)), note="not trained", note_from=1)
    words = " ".join(Text(to_html(table(row))).words).split()
    assert words[words.index("x") :][:5] == ["x", "40", "not", "trained", "50.8"]


def compared(paper, interval=(0.45, 0.55), **more) -> Cell:
    return Cell(0.5, paper=paper, form="score", interval=interval, **more)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_colour_says_what_our_interval_decides_about_the_papers_value(a, b, paper):
    low, high = sorted((a, b))
    near = all(abs(end - paper) <= NEAR["score"] for end in (low, high))
    look = "outside" if paper < low or paper > high else "inside" if near else ""
    for value in (paper, (paper, 9.0)):  # of a pair its mean
        assert compared(value, (low, high)).look == look
        assert compared(value, (low, high), comparable=False).look == ""
    assert compared(paper, None).look == compared(None, (low, high)).look == compared("–", (low, high)).look == ""


def test_more_questions_never_take_green_away():
    """Of intervals about one value, a narrower one that holds the paper's is at least as green."""
    looks = [Cell(50.0, paper=51.0, interval=(50 - wide, 50 + wide)).look for wide in (20, 10, 5, 4, 2, 1)]
    assert looks == ["", "", "", "inside", "inside", "inside"]


def test_cells_show_their_interval_and_n_and_are_coloured_where_it_decides():
    row = Row("x", (compared(0.54, n=1234), compared(0.61, n=9)))
    page = to_html(table(row))
    assert re.findall(r'<td class="(ours[^"]*)">', page) == ["ours inside", "ours outside"]
    words = " ".join(" ".join(Text(page).words).split())
    assert "[0.45, 0.55] n 1,234" in words and "[0.45, 0.55] n 9" in words
    assert "Green where it lies within 5 points (a score: 0.1) of the paper's value" in words
    latex = to_latex(table(row))
    assert r"{@{}r@{}}\textcolor{teal}{0.50} \textcolor{gray}{0.54} \\ {\scriptsize [0.45, 0.55] n 1,234}" in latex
    assert r"\textcolor{orange}{0.50}" in latex and r"\textcolor{teal}{Teal} where it lies within 5 points" in latex
    (line,) = csv.DictReader(io.StringIO(to_csv(table(row))))
    assert (line["A low"], line["A high"], line["A n"], line["A (paper)"]) == ("0.45", "0.55", "1234", "0.54")


def test_a_number_that_is_undefined_says_why():
    cell = Cell("no gap", paper=0.5, form="score", n=40)
    assert (cell.ours, cell.look, cell.doubt) == ("no gap", "", ())
    assert "no gap" in to_html(table(Row("x", (cell, Cell(1.0)))))


def test_without_an_interval_nothing_is_said_of_colours():
    assert "Green" not in to_html(table(Row("x", (compared(0.6, None), Cell(1.0)))))


def test_a_table_that_stands_apart_says_why():
    apart = Table("Title", "a citation", "Split", ("A",), (Row("x", (Cell(1.0),)),), apart="an <old> dataset")
    words = " ".join(" ".join(Text(to_html(apart)).words).split())
    assert "Not comparable: an <old> dataset." in words
    assert "Not comparable" not in to_html(table(Row("x", (Cell(1.0), Cell(2.0)))))


def test_below_the_text_baseline_is_red():
    page = to_html(table(Row("x", (Cell(0.0, paper=0, form="score", low=True), Cell(1.0)))))
    assert re.search(r'<td class="ours low">.*?0\.00', page, re.S)
    assert r"\textcolor{red}{0.00} \textcolor{gray}{0.00}" in to_latex(
        table(Row("x", (Cell(0.0, paper=0, form="score", low=True), Cell(1.0))))
    )


@given(st.text(min_size=1).filter(str.strip))
def test_no_label_becomes_markup(label):
    plain = Text(to_html(table(Row("x", (Cell(1.0), Cell(2.0))))))
    page = Text(to_html(table(Row(label, (Cell(1.0), Cell(2.0))))))
    assert page.tags == plain.tags


def test_names_with_markup_are_shown_as_they_are():
    page = to_html(table(Row(NASTY, (Cell(1.0), Cell(2.0)))))
    assert "</script>" not in page
    assert NASTY in "".join(Text(page).words)


def test_csv_has_full_precision_deviations_and_the_papers_values():
    text = to_csv(
        table(
            Row("x, y", (Cell(68.12345, 0.5, 70.8), Cell(paper=(48000, 11000), form="count"))),
            Row("z", (Cell(), Cell(12, form="count")), note="empty"),
        )
    )
    first, second = csv.DictReader(io.StringIO(text))
    assert first == {
        "Split": "x, y",
        "A": "68.1235",
        "A deviation": "0.5",
        "A (paper)": "70.8",
        "B": "",
        "B (paper)": "48.0k ± 11.0k",
        "note": "",
    }
    assert (second["A"], second["B"], second["note"]) == ("", "12", "empty")


def test_latex_escapes_and_stays_rectangular():
    text = to_latex(table(Row("A & B_1 ∪ C", (Cell(1.0, 0.1, 2.0), Cell()))))
    assert r"A \& B\_1 $\cup$ C & 1.0 $\pm$ 0.1 \textcolor{gray}{2.0} & -- \\" in text
    assert tex("50% {x}") == r"50\% \{x\}"


def test_numbers_are_written_as_the_paper_writes_them():
    assert written(33300, "count", short=True) == "33.3k"
    assert written(3666, "count", short=True) == "3,666"
    assert written(33312, "count") == "33,312"
    assert written(0.18, "score") == "0.18"
    assert written(14.04, "mean") == "14.0"
    assert [written(-7e-15, form) for form in ("points", "mean")] == ["0.00", "0.0"]  # no zero with a sign


def test_saving_gives_three_equal_files_each_time(tmp_path):
    made = table(Row("x", (Cell(1.0), Cell(2.0))))
    first = {path.name: path.read_bytes() for path in save(made, tmp_path / "t")}
    assert sorted(first) == ["t.csv", "t.html", "t.tex"]
    assert first == {path.name: path.read_bytes() for path in save(made, tmp_path / "t")}


def words(stacked: bool) -> Table:
    cell = Cell("Is the cat <red>?", paper="Is the dog a & b?", form="text", marks=((3, 10), (11, 16)))
    return Table("Title", "a citation", "Template", ("Example",), (Row("X", (cell,)),), stacked=stacked)


def test_marked_parts_of_a_text_are_underlined():
    page = to_html(words(stacked=False))
    assert "Is <u>the cat</u> <u>&lt;red&gt;</u>?</td>" in page
    the_cat = r"Is \underline{the} \underline{cat} \underline{\textless{}red\textgreater{}}?"
    assert rf"{the_cat}\leavevmode\newline \textcolor{{gray}}{{Is the dog a \& b?}}" in to_latex(words(stacked=False))


@given(st.text(), st.lists(st.integers(0, 40)))
def test_the_pieces_of_a_text_are_the_text(text, places):
    places = sorted(place for place in places if place <= len(text))
    marks = tuple(zip(places[::2], places[1::2], strict=False))
    cell = Cell(text, form="text", marks=marks)
    assert "".join(piece for piece, _ in cell.pieces) == text
    assert "".join(piece for piece, marked in cell.pieces if marked) == "".join(text[a:b] for a, b in marks)


def test_the_papers_words_stand_beside_or_below_ours():
    beside, below = (Text(to_html(words(stacked))) for stacked in (False, True))
    assert (beside.tags.count("td"), below.tags.count("td")) == (2, 1)
    for page in (beside, below):
        assert "".join(page.words).index("Is the cat") < "".join(page.words).index("Is the dog a & b?")
        assert "Grey: the paper's own words." in page.words


def test_words_are_written_to_csv_as_they_are():
    (row,) = csv.DictReader(io.StringIO(to_csv(words(stacked=True))))
    assert row == {"Template": "X", "Example": "Is the cat <red>?", "Example (paper)": "Is the dog a & b?"}


def test_no_cell_is_a_formula_to_a_spreadsheet_and_numbers_stay():
    cells = (Cell("=1+1", form="text"), Cell(-0.25, form="score"))
    made = Table("T", "c", "@head", ("+A", "B"), (Row("-x", cells, note="=2"),))
    assert list(csv.reader(io.StringIO(to_csv(made)))) == [
        ["'@head", "'+A", "B", "note"],
        ["'-x", "'=1+1", "-0.25", "'=2"],
    ]


def test_a_title_stays_in_its_comment_and_is_escaped_in_the_caption():
    made = Table("One\n\\input{secret}\r\nTwo", "a\rcitation", "Split", (), ())
    lines = to_latex(made, "table1").splitlines()
    assert lines[0] == "% One \\input{secret} Two (a citation)" and lines[1] == r"\begin{table}"
    assert lines[3:5] == [
        r"\caption{One \textbackslash{}input\{secret\} Two (a citation)}", r"\label{tab:table1}",
    ]  # fmt: skip


def test_a_number_that_is_no_test_of_its_split_has_a_sign_and_the_table_its_legend():
    asked = table(Row("x", (Cell(60.0, 1.0, 55, asked=7), Cell(0.4, form="score"))), Row("y", (Cell(), Cell(asked=3))))
    page = " ".join(" ".join(Text(to_html(asked)).words).split())
    assert "60.0‡ ± 1.0 55" in page and page.count("‡") == 2 and "‡ no test of what the split holds out" in page
    latex = to_latex(asked)
    assert r"x & 60.0$\ddagger$ ± 1.0" in latex.replace(r"$\pm$", "±") and latex.count(r"\ddagger") == 2
    one, other = csv.DictReader(io.StringIO(to_csv(asked)))
    assert (one["A"], one["A asked before"], other["A asked before"]) == ("60", "7", "")
    assert "B asked before" not in one
    plain = table(Row("x", (Cell(60.0, 1.0, 55), Cell(0.4, form="score"))))
    assert "‡" not in to_html(plain) and "ddagger" not in to_latex(plain) and "asked" not in to_csv(plain)


def test_latex_says_whose_the_gray_numbers_are():
    row = Row("x", (compared(0.54, n=9), compared(0.61, n=9)))
    ours, theirs = (to_latex(replace(table(row), whose=whose)) for whose in ("", "A & B"))
    assert r"\textcolor{gray}{Gray}: the paper's own numbers." in ours and "of the paper's value" in ours
    assert r"\textcolor{gray}{Gray}: numbers of A \& B." in theirs and "of the gray value" in theirs
