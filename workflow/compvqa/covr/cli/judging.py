"""Commands that count questions, and judge them and the filters against the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compvqa.cli.models import Dataset
from compvqa.cli.options import Code, Config, Frame, Scenes, Seed, parquet_in, scene_tables
from compvqa.errors import InputError


def statistics(
    out: Annotated[Path, typer.Argument(help="Table of statistics to write.")],
    dataset: Dataset,
    code: Code = None,
) -> None:
    """Count what Table 3 and Figures 4 to 6 show."""
    from compvqa.covr.statistics import statistics as work

    frame = Frame("statistics", None, 0, code)
    frame.run(lambda: work(dataset, out), [dataset], [out])


def validity(
    out: Annotated[Path, typer.Argument(help="Table of judged questions to write.")],
    dataset: Dataset,
    scenes: Scenes,
    truth: Annotated[Path, typer.Option(help="Folder with complete/ and missing_only/.")],
    lexicon: Annotated[Path, typer.Option(help="Lexicon of the vocabulary.")],
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Judge questions against the world's truth: which are invalid, and why."""
    from compvqa.covr.judging.validity import ValiditySettings
    from compvqa.covr.judging.validity import validity as work

    frame = Frame("validity", config, seed, code)
    settings = frame.settings(ValiditySettings)
    inputs = [dataset, *scene_tables(scenes), truth, lexicon]
    frame.run(lambda: work(dataset, scenes, truth, lexicon, out, settings, seed), inputs, [out])


def distractors(
    out: Annotated[Path, typer.Argument(help="Table of judged distractors to write.")],
    seeds: Annotated[Path, typer.Option(help="Folder of the seeds' tables, of the chain none-none.")],
    candidates: Annotated[list[Path], typer.Option(help="A chain's folder of candidate images; repeat for more.")],
    presence: Annotated[list[Path], typer.Option(help="A chain's folder of presence; repeat for more.")],
    scenes: Annotated[Path, typer.Option(help="Folder of the merged scene tables.")],
    truth: Annotated[Path, typer.Option(help="Folder with complete/ and missing_only/.")],
    lexicon: Annotated[Path, typer.Option(help="Lexicon of the vocabulary.")],
    thresholds: Annotated[Path | None, typer.Option(help="Thresholds that chains use instead of the config's.")] = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Judge which candidate distractors are false, and which the filters drop; --config names the chains, in order."""
    from compvqa.covr.judging.distractors import DistractorSettings
    from compvqa.covr.judging.distractors import distractors as work

    frame = Frame("distractors", config, seed, code)
    settings = frame.settings(DistractorSettings)
    settings = settings.model_copy(update={"related": settings.related.set_by(thresholds)})
    asked = parquet_in(seeds)
    found, seen = ([parquet_in(folder) for folder in folders] for folders in (candidates, presence))
    inputs = [*asked, *(path for paths in (*found, *seen) for path in paths)]
    frame.run(
        lambda: work(asked, found, seen, scenes, truth, lexicon, out, settings, seed),
        [*inputs, *scene_tables(scenes), truth, lexicon, *([thresholds] if thresholds else [])],
        [out],
    )


def filters(
    out: Annotated[Path, typer.Argument(help="Table of what the filters are worth to write.")],
    questions: Annotated[list[Path], typer.Option(help="A chain's table of judged questions; repeat for more.")],
    distractors: Annotated[Path, typer.Option(help="Table of judged distractors.")],
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Measure what the filters are worth: invalid questions and false distractors of each chain."""
    from compvqa.covr.judging.filters import FilterSettings, judge

    frame = Frame("filters", config, seed, code)
    settings = frame.settings(FilterSettings)
    inputs = [*questions, distractors]
    frame.run(lambda: judge(questions, distractors, out, settings, seed), inputs, [out])


def judge(
    file: Annotated[Path, typer.Argument(help="Questions: .csv, .jsonl or .parquet with text, images, answer.")],
    testbed: Annotated[Path, typer.Option(help="The test-bed's results, with scenes/ and lexicon.json.")],
    truth: Annotated[Path, typer.Option(help="Folder of the drawn world's truth: complete/ and missing_only/.")],
    out: Annotated[Path | None, typer.Option(help="Table of all verdicts to write: .csv or .parquet.")] = None,
) -> None:
    """Tell which questions of any generator about a drawn world are true, wrong or ambiguous, and why: each with a
    program of COVR's language, or with a claim."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from compvqa.covr.judging.outside import World, judge_file, save, shares

    if out is not None and out.suffix not in (".csv", ".parquet"):
        raise InputError(f"--out {out} does not say what to write: end it in .csv or .parquet.")
    frame = Frame("judge", None, 0, None)
    scenes, lexicon = testbed / "scenes", testbed / "lexicon.json"
    judged: list[dict] = []

    def work() -> dict[str, int]:
        judged.extend(judge_file(file, World.load(scenes, truth, lexicon)))
        if out is not None:
            save(judged, out)
        whole = {verdict: n for template, verdict, cause, n, *_ in shares(judged) if not template and not cause}
        return {"in": len(judged), **whole}

    frame.run(work, [file, *scene_tables(scenes), truth, lexicon], [out] if out else [])
    table = Table("", "verdict", "cause", "questions", "%", "95% interval", title=Text(file.name))
    for template, verdict, cause, n, of, low, high in shares(judged):
        between = f"{100 * low:.1f} – {100 * high:.1f}"
        table.add_row(Text(template or "all"), verdict, cause, f"{n:,} of {of:,}", f"{100 * n / of:.1f}", between)
    Console().print(table)
