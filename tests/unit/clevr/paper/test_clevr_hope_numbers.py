"""The numbers of the CLEVR-HOPE paper in config/paper/clevr-hope, checked against its text so that none is mistyped."""

import re
from itertools import takewhile

import pytest

from compvqa.paper.reference import load
from fixtures.paper_tables import PAPERS

FOLDER = PAPERS / "clevr-hope"
PAPER = PAPERS.parents[2] / "shared/papers/systematicity-gap-clevr-hope.txt"
ROW = re.compile(r"^([a-z ]*?) ?(\d+) ((?:\S*\d\.\d\d± \d+\.\d\d% ?){3})$")
PRINTED = [*range(3, 11), *range(15, 19)]
SIZES = ("small", "medium", "large")

pytestmark = pytest.mark.skipif(not PAPER.exists(), reason="the paper's text is not beside this checkout")


@pytest.fixture(scope="module")
def lines():
    return PAPER.read_text(encoding="utf-8").splitlines()


def above(lines: list[str], number: int) -> list[str]:
    """The lines above the caption of a table, back to the caption before."""
    end = next(place for place, line in enumerate(lines) if line.startswith(f"Table {number}:"))
    return list(takewhile(lambda line: not re.match(r"(Table|Figure) \d+:", line), reversed(lines[:end])))[::-1]


@pytest.mark.parametrize("number", PRINTED)
def test_every_mean_and_deviation_stands_in_the_paper_and_none_is_left_out(lines, number):
    reference = load(FOLDER / f"table{number}.yaml")
    found = {}
    for match in filter(None, (ROW.match(line) for line in above(lines, number))):
        label, many, rest = match.groups()
        numbers = re.findall(r"(\S*\d)± (\S+)%", rest.replace("−", "-"))
        found[label or many] = [(float(mean), float(deviation)) for mean, deviation in numbers]
    ours = {reference.printed.get(label, label): list(values) for label, values in reference.rows.items()}
    assert ours == found and len(found) == (29 if number < 11 else 4)
    assert reference.columns == SIZES and [reference.shown(size).variant for size in SIZES] == list(SIZES)


def test_the_pairs_are_those_of_table_1(lines):
    reference = load(FOLDER / "table1.yaml")
    rows = [re.match(r"^([A-Z][a-z]+ [a-z]+) ([A-Z]+) \+ ([A-Z]+) (\d+)$", line) for line in above(lines, 1)]
    found = {row[1].lower(): (f"{row[2]}+{row[3]}".lower(), int(row[4])) for row in rows if row}
    assert dict(reference.rows) == found and len(found) == 29


def test_the_settings_are_those_of_table_2(lines):
    told = " ".join(above(lines, 2))
    values = [value for values in load(FOLDER / "table2.yaml").rows.values() for value in values]
    assert re.findall(r"\d+e-\d|\d[\d,]+", told)[-6:] == ["5e-5", "1e-5", "218,750", "481,000", "32", "32"]
    assert values == [5e-5, 1e-5, 218_750, 481_000, 32, 32]


@pytest.mark.parametrize("number", [*range(11, 15), 19, 20])
def test_tables_whose_numbers_the_text_lacks_say_so(lines, number):
    assert not any(line.startswith(f"Table {number}:") for line in lines)
    reference = load(FOLDER / f"table{number}.yaml")
    assert not reference.rows and "our text of it lacks; ours stand alone" in reference.citation
