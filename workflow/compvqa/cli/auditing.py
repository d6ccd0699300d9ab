"""Commands that write down what a run made, and that audit where results came from."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compvqa.cli.options import Code, Config, Frame
from compvqa.errors import InputError

if TYPE_CHECKING:
    from compvqa.provenance.audit import Target
    from compvqa.provenance.verify import Asked, Verdict

RESULTS = Path("results")
SUFFIXES = (".txt", ".json", ".html")
RECIPE = re.compile(r"[0-9a-f]{24}")
SHOWN = 10  # findings of a kind that --verify prints without --all


def manifest(
    results: Annotated[Path, typer.Argument(help="Folder of a run's results, as the workflow named it.")],
    project: Annotated[Path, typer.Option(help="Folder of the workflow, for the commit of git.")],
    config: Config = None,
    code: Code = None,
) -> None:
    """Write the manifest of a run: each file and each record with its sha256, the config, the code."""
    from compvqa.provenance.manifest import MANIFEST, ManifestSettings, write_manifest
    from compvqa.records.record import sha256

    frame = Frame("manifest", config, 0, code)
    settings = frame.settings(ManifestSettings)
    frame.run(lambda: write_manifest(results, project, settings), [], [])
    typer.echo(f"{results / MANIFEST} has the sha256 {sha256(results / MANIFEST)}")


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
        bool,
        typer.Option(
            "--verify",
            help="Rehash all that led to it, and compare it with manifest and records; exits with 0 where all agrees, "
            "1 where something is altered, missing, extra or outdated, 3 where other code made it, 4 where something "
            "cannot be checked.",
        ),
    ] = False,
    manifest_sha256: Annotated[
        str | None, typer.Option(help="With --verify: the sha256 the manifest must have.")
    ] = None,
    signers: Annotated[
        Path | None,
        typer.Option(help="With --verify: file of allowed signers (ssh-keygen), one of whom must have signed."),
    ] = None,
    signer: Annotated[str | None, typer.Option(help="With --signers: the one of them who must have.")] = None,
    sign: Annotated[
        Path | None, typer.Option(metavar="KEY", help="Sign the manifest of a test-bed's folder with an SSH key.")
    ] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Say what differs between two targets, A and B.")] = False,
    contents: Annotated[
        bool,
        typer.Option(
            "--contents",
            help="With --diff, of two folders: compare rows, numbers and pixels, whatever code made them; exits with 0 "
            "where all are equal but recipe ids, 1 where something differs.",
        ),
    ] = False,
    example: Annotated[str | None, typer.Option(help="A question_id: tell this question's whole story.")] = None,
    examples: Annotated[int, typer.Option(min=0, help="Random questions to trace back.")] = 3,
    seed: Annotated[int, typer.Option(help="The seed that they are drawn with.")] = 1,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Tell everything: each step, count and scene, or each thing that --verify or --contents found.",
        ),
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write a .txt, .json or .html file instead of printing.")] = None,
) -> None:
    """Where a split came from: sources, counts, leak checks, filters' folds, and examples traced to raw records; of any
    other file of the results, sources and counts."""
    names = targets or []
    if out and out.suffix not in SUFFIXES:
        raise InputError(f"--out {out} must end in {', '.join(SUFFIXES)}: rename it.")
    asked = {"--diff": diff, "--sign": sign, "--verify": verify, "--example": example}
    if len(several := [option for option, given in asked.items() if given]) > 1:
        raise InputError(f"{' and '.join(several)} are of different audits: give one of them.")
    if not verify and (manifest_sha256 or signers or signer):
        raise InputError("--manifest-sha256, --signers and --signer tell what --verify is to find: add it.")
    if example and names:
        raise InputError(f"--example tells of one question, and not of {names[0]}: leave that out.")
    if diff:
        if len(names) != 2:
            raise InputError("--diff compares two targets: give two tables or two test-beds' folders.")
        if contents:
            _contents(names, every, out)
        else:
            _diff(names, testbed, out)
    elif contents:
        raise InputError("--contents says how --diff compares: add it, and two folders.")
    elif sign:
        _sign(_folders(names, testbed), sign)
    elif verify:
        _verify(_folders(names, testbed), testbed, Proof(manifest_sha256, signers, signer), every, out)
    elif example:
        _example(example, testbed, out)
    elif len(names) == 1 and not Path(names[0]).is_dir():
        target = _recipe(names[0], testbed) if RECIPE.fullmatch(names[0]) else _target(names[0], testbed)
        if target.maker and target.maker.stage == "split":
            _audit(target.history.root / target.files[0], examples, seed, every, out)
        else:
            _way(target, every, out)
    else:
        raise InputError("give one thing to audit: a split's name, a file of the results, or a recipe id.")


def _audit(split: Path, examples: int, seed: int, every: bool, out: Path | None) -> None:
    from compvqa.provenance import brief, telling
    from compvqa.provenance.audit import audit as work

    told = work(split, examples, seed)
    if out and out.suffix == ".html":
        _write(out, telling.html(told))
    else:
        _give(told, (telling if every else brief).text(told), out)
    wrong = [row for row in told["folds"] if row.get("both")]
    if wrong:
        model, table, both = (wrong[0][key] for key in ("model", "table", "both"))
        raise InputError(f"{model} was trained on {both} of the images that it scored in {table}: train it on others.")


def _way(target: Target, every: bool, out: Path | None) -> None:
    from compvqa.provenance import brief, telling
    from compvqa.provenance.audit import way

    told = way(target)
    _give(told, (telling if every else brief).way(told), out)


def _folders(names: list[str], testbed: Path | None) -> list[str]:
    """What was named; the only test-bed's folder where nothing was."""
    if names:
        return names
    return [str(testbed or _only(sorted(path for path in RESULTS.glob("*") if path.is_dir()), "test-bed"))]


def _sign(folders: list[str], key: Path) -> None:
    from compvqa.provenance.signature import sign

    for folder in folders:
        typer.echo(f"signed: {sign(Path(folder), key)}")


@dataclass(frozen=True)
class Proof:
    """What shows that a manifest is the one that was written: its sha256, or who signed it."""

    sha256: str | None
    signers: Path | None
    signer: str | None

    def check(self, asked: Asked) -> str:
        """Who vouches for the manifest, in words; :class:`InputError` where it is another."""
        from compvqa.provenance.manifest import MANIFEST
        from compvqa.provenance.signature import signer

        told, folder = "", asked.history.root / asked.bed
        if self.signer and not self.signers:
            raise InputError("--signer names one of --signers: give the file of allowed signers too.")
        if self.sha256 or self.signers:
            if asked.manifest is None:
                raise InputError(f"{folder / MANIFEST} is not there: without it nobody vouches for {folder}.")
            if self.sha256 and self.sha256.lower() != asked.manifest.sha256:
                raise InputError(
                    f"{folder / MANIFEST} has the sha256 {asked.manifest.sha256}, not {self.sha256}: it is another one."
                )
            told += ", as was expected" * bool(self.sha256)
        if self.signers:
            told += f", signed by {signer(folder, self.signers, self.signer)}"
        return told


def _verify(names: list[str], testbed: Path | None, proof: Proof, every: bool, out: Path | None) -> None:
    from rich.text import Text

    from compvqa.provenance.verify import KINDS, verify

    verdicts = []
    lines: list[str] = []
    for name in names:
        asked = _asked(name, testbed)
        vouched = proof.check(asked)
        verdicts.append(verify(asked))
        lines += _lines(name, asked, verdicts[-1], vouched, every)
    if out is None:
        typer.echo("\n".join(lines))
    else:
        data = {name: asdict(verdict) for name, verdict in zip(names, verdicts, strict=True)}
        _give(data, Text("\n".join(lines)), out)
    worst = [finding for verdict in verdicts if verdict.status() == 1 for finding in verdict.findings]
    if worst:
        raise InputError(min(worst, key=lambda finding: KINDS.index(finding.kind)).told)
    raise typer.Exit(min((status for verdict in verdicts if (status := verdict.status())), default=0))


def _asked(name: str, testbed: Path | None) -> Asked:
    from compvqa.provenance.manifest import MANIFEST
    from compvqa.provenance.verify import Asked

    if (Path(name) / MANIFEST).is_file():
        return Asked.testbed(Path(name))
    target = _target(name, testbed)
    folder = Path(name).resolve().relative_to(target.history.root).as_posix() if Path(name).is_dir() else None
    return Asked.of(target.history, target.files, folder)


def _lines(name: str, asked: Asked, verdict: Verdict, vouched: str, every: bool) -> Iterator[str]:
    """What was compared, and the findings by kind."""
    from compvqa.provenance.checkout import state, told
    from compvqa.provenance.manifest import MANIFEST
    from compvqa.records.record import ROOT

    agree = "agree" if verdict.status() != 1 else "were compared"
    yield f"{name}: {verdict.records:,} records and {verdict.files:,} files {agree}"
    if asked.manifest:
        yield f"  {MANIFEST}: sha256 {asked.manifest.sha256}{vouched}"
        written, here = asked.manifest.data["git"], state(ROOT)
        yield f"  written at {told(written)}" + (f"; here is {told(here)}" if here != written else "")
    if verdict.temporary:
        yield f"  temporary files that are gone, as they should be: {verdict.temporary:,}"
    for kind, findings in verdict.by_kind().items():
        yield f"{kind}: {len(findings):,}"
        for finding in findings[: None if every else SHOWN]:
            yield f"  {finding.told}"
        if len(findings) > SHOWN and not every:
            yield f"  … and {len(findings) - SHOWN:,} more (--all tells them)"


def _diff(names: list[str], testbed: Path | None, out: Path | None) -> None:
    from compvqa.provenance import contrast
    from compvqa.provenance.differences import differences

    a, b = (_target(name, testbed) for name in names)
    told = differences((a.history, a.records), (b.history, b.records))
    _give(told, contrast.text(told), out)


def _contents(names: list[str], every: bool, out: Path | None) -> None:
    from compvqa.provenance import contrast
    from compvqa.provenance.contents import compare, same

    found = compare(*map(Path, names))
    _give({"equal": same(found), "files": [asdict(one) for one in found]}, contrast.contents(found, every), out)
    raise typer.Exit(not same(found))


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
        text = io.StringIO()
        Console(file=text, width=160).print(words, highlight=False)
        _write(out, text.getvalue())


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
    from compvqa.records.record import SUFFIX

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
    """Add these commands in their order."""
    app.command()(manifest)
    app.command()(audit)
