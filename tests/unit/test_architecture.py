"""docs/architecture.md is true of the tree: places that it names are there, and the parts of each kind are those."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "workflow/compvqa"
PAGE = (ROOT / "docs/architecture.md").read_text()
MOST_TERMS = 40


def table(heading: str) -> list[list[str]]:
    """The rows of the table below a heading, without its head."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    (text,) = (part for part in section if part.startswith(heading))
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([\w/.-]+(?:\.py|\.md|/))`", PAGE))))
def test_what_it_names_is_there(name):
    folders = (ROOT, PACKAGE, PACKAGE / "covr", PACKAGE / "clevr")
    assert any((folder / name).exists() for folder in folders), name


def test_each_word_is_explained_once_and_there_are_few():
    words = [row[0] for row in table("Glossary")]
    assert words == sorted(words) and len(set(words)) == len(words) <= MOST_TERMS


def stems(folder: Path, pattern: str = "[!_]*.py") -> list[str]:
    """What the files of a folder are called."""
    return [path.stem for path in folder.glob(pattern)]


@pytest.mark.parametrize(
    ("concept", "found"),
    [
        ("world, or source", stems(ROOT / "rules/worlds", "*.smk") + stems(PACKAGE / "scenes/readers")),
        ("engine", stems(ROOT / "rules/engines", "*.smk")),
        ("language", [path.parent.name for path in PACKAGE.glob("*/language.py") if path.parent.name != "programs"]),
        (
            "setup",
            stems(PACKAGE / "splits/setups") + [f"clevr.{setup}" for setup in stems(PACKAGE / "clevr/splits/setups")],
        ),
        ("contrast", stems(PACKAGE / "evaluation/contrasts")),
    ],
)
def test_the_projects_parts_of_a_kind_are_listed(concept, found):
    (row,) = (row for row in table("Seven concepts") if row[0] == concept)
    assert sorted(re.split("[,;] ", row[-1])) == sorted(found)
