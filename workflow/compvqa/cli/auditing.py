"""The command that audits where results came from."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compvqa.errors import InputError

if TYPE_CHECKING:
    from compvqa.provenance.audit import Target

RESULTS = Path("results")
SUFFIXES = (".txt", ".json", ".html")
RECIPE = re.compile(r"[0-9a-f]{24}")


def audit(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            help="A split's name, a file of the results or a recipe id; with --verify, --diff also a test-bed's folder."
        ),
    ] = None,
    testbed: Annotated[
        Path | None,
        typer.Option(help="The test-bed's folder in results/; without it, the only one that has the split."),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Rehash all that led to it; exit with 1 at the first difference.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Say what differs between two targets, A and B.")] = False,
    example: Annotated[str | None, typer.Option(help="A question_id: tell this question's whole story.")] = None,
    examples: Annotated[int, typer.Option(min=0, help="Random questions to trace back.")] = 3,
    seed: Annotated[int, typer.Option(help="The seed that they are drawn with.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Write a .txt, .json or .html file instead of printing.")] = None,
) -> None:
    """Where a split came from: sources, counts, leak checks, filters' folds, and examples traced to raw records; of any
    other file of the results, sources and counts."""
    names = targets or []
    if out and out.suffix not in SUFFIXES:
        raise InputError(f"--out {out} must end in {', '.join(SUFFIXES)}: rename it.")
    if diff:
        if len(names) != 2:
            raise InputError("--diff compares two targets: give two tables or two test-beds' folders.")
        _diff(names, testbed, out)
    elif verify:
        _verify(names, testbed)
    elif example:
        _example(example, testbed, out)
    elif len(names) == 1 and not Path(names[0]).is_dir():
        target = _recipe(names[0], testbed) if RECIPE.fullmatch(names[0]) else _target(names[0], testbed)
        if target.maker and target.maker.stage == "split":
            _audit(target.history.root / target.files[0], examples, seed, out)
        else:
            _way(target, out)
    else:
        raise InputError("give one thing to audit: a split's name, a file of the results, or a recipe id.")


def _audit(split: Path, examples: int, seed: int, out: Path | None) -> None:
    from compvqa.provenance import telling
    from compvqa.provenance.audit import audit as work

    told = work(split, examples, seed)
    if out and out.suffix == ".html":
        _write(out, telling.html(told))
    else:
        _give(told, telling.text(told), out)
    wrong = [row for row in told["folds"] if row.get("both")]
    if wrong:
        model, table, both = (wrong[0][key] for key in ("model", "table", "both"))
        raise InputError(f"{model} was trained on {both} of the images that it judged in {table}: train it on others.")


def _way(target: Target, out: Path | None) -> None:
    from compvqa.provenance import telling
    from compvqa.provenance.audit import way

    told = way(target)
    _give(told, telling.way(told), out)


def _verify(names: list[str], testbed: Path | None) -> None:
    from compvqa.provenance.verify import verify

    if not names:
        names = [str(testbed or _only(sorted(path for path in RESULTS.glob("*") if path.is_dir()), "test-bed"))]
    for name in names:
        target = _target(name, testbed)
        verdict = verify(target.history, target.records)
        if verdict.differences:
            raise InputError(verdict.differences[0])
        typer.echo(f"{name}: {verdict.records:,} records and {verdict.files:,} files agree")
        for what, paths in (("gone", verdict.gone), ("given from elsewhere", verdict.elsewhere)):
            if paths:
                typer.echo(
                    f"  not hashed, {what}: {len(paths):,} ({', '.join(paths[:3])}{' …' if len(paths) > 3 else ''})"
                )


def _diff(names: list[str], testbed: Path | None, out: Path | None) -> None:
    from compvqa.provenance import contrast
    from compvqa.provenance.differences import differences

    a, b = (_target(name, testbed) for name in names)
    told = differences((a.history, a.records), (b.history, b.records))
    _give(told, contrast.text(told), out)


def _example(question_id: str, testbed: Path | None, out: Path | None) -> None:
    from compvqa.provenance import telling
    from compvqa.provenance.audit import example as work

    found = [testbed] if testbed else sorted(path.parent.parent for path in RESULTS.glob("*/dataset/questions.parquet"))
    told = work(question_id, _only(found, "test-bed") / "dataset" / "questions.parquet")
    _give(told, telling.story(told), out)


def _give(data: dict, words, out: Path | None) -> None:
    """Print ``words``, or write them or ``data`` to ``out``, by its suffix."""
    from rich.console import Console

    from compvqa.provenance import telling

    if out is None:
        telling.show(words)
    elif out.suffix == ".json":
        _write(out, json.dumps(data, indent=1, ensure_ascii=False, default=str) + "\n")
    elif out.suffix == ".html":
        raise InputError(f"--out {out}: only the audit of a split has a page; give .txt or .json.")
    else:
        with out.open("w", encoding="utf-8") as file:
            Console(file=file, width=160).print(words, highlight=False)


def _write(out: Path, text: str) -> None:
    from compvqa.paper.render import write_text

    write_text(out, text)
    typer.echo(f"written: {out}")


def _target(name: str, testbed: Path | None) -> Target:
    from compvqa.provenance.audit import Target

    return Target.of(Path(name) if Path(name).exists() else _table(name, testbed))


def _recipe(recipe: str, testbed: Path | None) -> Target:
    """What was made with a recipe."""
    from compvqa.provenance.audit import Target
    from compvqa.provenance.record import SUFFIX

    folders = [testbed] if testbed else sorted(path for path in RESULTS.glob("*") if any(path.rglob(f"*{SUFFIX}")))
    for folder in folders:
        if made := Target.of(folder).made_with(recipe):
            return made
    where = testbed or f"{RESULTS}/"
    raise InputError(f"nothing in {where} was made with the recipe {recipe}: name its test-bed's folder by --testbed.")


def _table(name: str, testbed: Path | None) -> Path:
    """The table of a split that is given by path or by name."""
    if Path(name).is_file() or "/" in name:
        return Path(name)
    folders = [testbed] if testbed else sorted(RESULTS.glob("*"))
    found = [path for folder in folders if (path := folder / "splits" / f"{name}.parquet").is_file()]
    if not found:
        where = testbed or f"any folder of {RESULTS}/"
        raise InputError(f"{where} has no splits/{name}.parquet: make it, or give the path of a split's table.")
    return _only(found, "split")


def _only(found: list[Path], what: str) -> Path:
    if len(found) != 1:
        told = ", ".join(map(str, found[:4])) or f"none in {RESULTS}/"
        raise InputError(f"there must be one {what} to choose, not {len(found)} ({told}): name it with --testbed.")
    return found[0]


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    app.command()(audit)
