"""Cells of CSV files that people open in a spreadsheet, which takes a text with = + - or @ before it for a formula."""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def as_text(cell: str) -> str:
    """A cell that no spreadsheet runs: an apostrophe is put before what would be a formula (CSV injection).

    Numbers are let be. :func:`meant` takes the apostrophe away again.
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _is_number(cell) else cell


def meant(cell: str) -> str:
    """What was given to :func:`as_text`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return cell == cell.strip()
