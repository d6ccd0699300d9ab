"""Tables as LaTeX, set by pdflatex where it is installed (Debian: texlive-latex-base, texlive-latex-recommended)."""

import re
import shutil
import string
import subprocess

import pytest

from compvqa.paper import tables
from compvqa.paper.reference import load
from compvqa.paper.render import Cell, Row, Table, save, tex
from fixtures.paper_tables import FOLDER

INSTALLED = shutil.which("pdflatex")
TABLES = sorted(path.stem for path in FOLDER.glob("*.yaml") if load(path).kind == "table")
PREAMBLE = r"\documentclass{article}\usepackage{booktabs,graphicx,xcolor}\begin{document}"
needs_latex = pytest.mark.skipif(not INSTALLED, reason="needs pdflatex: apt install texlive-latex-recommended")


def typeset(folder, names):
    """What pdflatex says of a document with the tables ``names`` of the folder, each on its page; it must set them."""
    body = "".join(rf"\input{{{name}}}\clearpage" for name in names)
    (folder / "all.tex").write_text(f"{PREAMBLE}{body}{chr(92)}end{{document}}")
    command = [INSTALLED, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "all.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    said = (folder / "all.log").read_text(errors="replace")
    assert done.returncode == 0, said[-3000:]
    return said


@needs_latex
def test_every_table_is_set_on_its_page_with_a_caption_and_a_label(world, tmp_path):
    for name in TABLES:
        tables.make(FOLDER / f"{name}.yaml", world.inputs, tmp_path / name)
    said = typeset(tmp_path, TABLES)
    assert f"({len(TABLES)} pages" in said
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", said)]
    assert not wide and "Float too large" not in said
    labels = re.findall(r"\\newlabel\{tab:([\w-]+)\}", (tmp_path / "all.aux").read_text())
    assert sorted(labels) == TABLES


# Each is a label, a text, a note and a title in turn: what is LaTeX's own, what begins a line, what fonts lack.
NASTY = [
    *string.printable,
    "\\x",
    "${",
    "[x]",
    "é",
    "ß",
    "œ",
    "杯",
    "∪",
    "±",
    "–",
    "“",
    "≥",
    "◆",
    "‡",
    "🙂",
    "^^M",
    "\x1f",
    "",
]
NASTY += ["\\input{x}", "a\n\nb", "\n\n", "{[}", "--", "a&b"]


@needs_latex
def test_no_text_breaks_it(tmp_path):
    names = []
    for text in dict.fromkeys(NASTY):
        cells = (
            Cell(text, paper=text, form="text", marks=((0, 1),)),
            Cell(1.0, 0.1, text, interval=(0.0, 2.0), n=3, asked=1),
        )
        rows = (Row(text, cells), Row(text, cells, note=text, minor=True, rule_above=True))
        names.append(f"t{len(names)}")
        save(Table(text, text, text, (text, text), rows, (text,), apart=text, doubt=text), tmp_path / names[-1])
    assert f"({len(names)} pages" in typeset(tmp_path, names)


def test_what_fonts_lack_is_told_by_its_number_and_all_else_is_said():
    assert tex("杯 ≥ é\x00 naïve œ 🙂") == r"[U+676F] $\geq$ é[U+0000] naïve [U+0153] [U+1F642]"
    assert all(tex(sign) for sign in string.printable)
