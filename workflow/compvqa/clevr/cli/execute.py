"""Commands to run CLEVR's programs by hand, and to write questions as files of CLEVR's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compvqa.errors import InputError

if TYPE_CHECKING:
    from compvqa.clevr.scene import Scene
    from compvqa.programs.rows import Row


def execute(
    scenes: Annotated[
        Path, typer.Argument(help="Scenes: a file of CLEVR's (CLEVR_val_scenes.json), or a folder of scene tables.")
    ],
    questions: Annotated[
        Path | None,
        typer.Option(help="Questions to run: a file of CLEVR's (CLEVR_val_questions.json)."),
    ] = None,
    program: Annotated[
        str | None, typer.Option(help="One program to run: JSON as in CLEVR's questions, or the path of a file of it.")
    ] = None,
    scene: Annotated[
        str | None, typer.Option(help="With --program: the scene's name (CLEVR_val_000010); each function is shown.")
    ] = None,
    most: Annotated[int, typer.Option(help="How many questions that differ, or scenes, to print.", min=0)] = 10,
) -> None:
    """Run programs of CLEVR's questions on their scenes, and say which answers differ from those of the file.

    A question that is ill-posed (where one object is asked for there are none or several) is told apart from one whose
    answer differs. The command exits with 1 where any question is at fault. For example:

    python -m compvqa clevr execute CLEVR_val_scenes.json --questions CLEVR_val_questions.json

    python -m compvqa clevr execute CLEVR_val_scenes.json --scene CLEVR_val_000010 --program
    '[{"function": "scene", "inputs": []}, {"function": "count", "inputs": [0]}]'
    """
    from compvqa.clevr.verify import scenes_of

    if (questions is None) == (program is None):
        raise InputError("there is nothing to run, or too much: give either --questions or --program.")
    if scene and questions:
        raise InputError("--scene goes with --program: leave it out, the questions say which scenes they are about.")
    found = scenes_of(scenes, tell=left_out)
    if questions:
        _check(questions, found, most)
    else:
        _run(_program(program or ""), found, scene, most)


def left_out(what: str) -> None:
    """Tell what was malformed in a file of scenes."""
    typer.echo(f"left out: {what}", err=True)


def _check(questions: Path, scenes: Mapping[str, Scene], most: int) -> None:
    """Run all questions of a file, print what became of them, and exit with 1 where any is at fault."""
    from compvqa.clevr.verify import FAULTS, counted, verify

    counts, shown = counted(verify(questions, scenes), most)
    for item in shown:
        typer.echo(f"question {item.number} (from 0): {item.outcome}: {item.why or item.text}")
        if not item.why:
            typer.echo(f"  the file's answer: {item.told}, the program's: {item.found or 'none'}")
    typer.echo(f"{counts.total():,} questions: " + ", ".join(f"{n:,} {what}" for what, n in sorted(counts.items())))
    if any(counts[fault] for fault in FAULTS):
        raise typer.Exit(1)


def _program(told: str) -> list[Row]:
    """The program of the command line, or of the file that it names."""
    from compvqa.clevr.language import LANGUAGE, from_functions
    from compvqa.files import TOO_DEEP, read_text
    from compvqa.programs.language import ProgramTypeError

    whole = told if told.lstrip().startswith(("[", "{")) else read_text(Path(told))
    try:
        data = json.loads(whole)
        rows = from_functions(data["program"] if isinstance(data, dict) else data)
        LANGUAGE.check(rows)
    except json.JSONDecodeError as fault:
        raise InputError(f"--program is not valid JSON (line {fault.lineno}: {fault.msg}): correct it.") from None
    except RecursionError:
        raise InputError(f"--program {TOO_DEEP}: correct it.") from None
    except (ValueError, TypeError, KeyError, ProgramTypeError) as fault:
        raise InputError(f"--program is no program of CLEVR's ({fault}): give its list of functions.") from None
    return rows


def _run(program: list[Row], scenes: Mapping[str, Scene], name: str | None, most: int) -> None:
    """Print a program's answer in each scene, or all that its functions give in one."""
    from compvqa.clevr.executor import ILL_POSED, values
    from compvqa.clevr.trace import show_value, traced_in

    if name is not None:
        if name not in scenes:
            known = ", ".join(sorted(scenes)[:3])
            raise InputError(f"there is no scene {name} among the {len(scenes):,} (such as {known}): name another.")
        for line in traced_in(program, scenes[name], _ids(scenes[name])):
            typer.echo("  ".join(cell for cell in line if cell))
        return
    for number, (key, scene) in enumerate(scenes.items()):
        if number == most:
            typer.echo(f"… and {len(scenes) - most:,} more scenes (--most)")
            break
        found = values(program, scene)[-1]
        told = "ill-posed" if found is ILL_POSED else show_value(program[-1].operation, found, scene, _ids(scene))
        typer.echo(f"{key}: {told}")


def _ids(scene: Scene) -> list[str]:
    """What the objects of a scene are called: by their places in its file, from 0."""
    return [f"#{number}" for number in range(len(scene.objects))]


def write_questions(
    dataset: Annotated[Path, typer.Argument(help="Table of CLEVR's questions (dataset/questions.parquet).")],
    out: Annotated[Path, typer.Argument(help="File to write, such as CLEVR_val_questions.json.")],
    part: Annotated[str, typer.Option(help="The part whose questions are written: train, val, test, dev …")],
    templates: Annotated[
        Path, typer.Option(help="Folder of the templates that they were made of, for the families' numbers.")
    ] = Path("config/templates/clevr"),
    words: Annotated[Path, typer.Option(help="The words of the questions (JSON).")] = Path("config/words/clevr.json"),
    origins: Annotated[
        Path | None,
        typer.Option(help="Table origins.parquet of questions that were read, to write what their file said."),
    ] = None,
    info: Annotated[Path | None, typer.Option(help="File info.json of questions that were read.")] = None,
) -> None:
    """Write a part of a table of CLEVR's questions as a file of CLEVR's, in the dialect of the release.

    What reads CLEVR_val_questions.json reads it as well: clevr-iep, its scripts, and this command's other half,
    read-questions. For example:

    python -m compvqa clevr write-questions results/clevr/dataset/questions.parquet my_val.json --part val
    """
    from compvqa.clevr.families import Families
    from compvqa.clevr.official import write_questions
    from compvqa.clevr.templates import read_templates
    from compvqa.clevr.words import read_words

    families = Families(read_templates(templates), read_words(words))
    counts = write_questions(dataset, out, part, families, origins, info)
    typer.echo(f"{out}: {counts['questions']:,} questions")
