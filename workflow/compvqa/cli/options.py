"""The options that all stages share, and the frame in which each runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel

from compvqa.errors import InputError
from compvqa.run import parse_settings, run_stage
from compvqa.stages import modules_of

Config = Annotated[
    str | None,
    typer.Option(help="The stage's settings: JSON, or the path of a YAML file; without it, the defaults."),
]
Seed = Annotated[int, typer.Option(help="The seed of every random choice.")]
Code = Annotated[str | None, typer.Option(help="Digest of the code that is expected to run (given by the workflow).")]
Scenes = Annotated[Path, typer.Option(help="Folder of the merged scene tables.")]
Pictures = Annotated[list[str], typer.Option(help="SPACE=FOLDER of pictures; repeat for more.")]
S = TypeVar("S", bound=BaseModel)


# The default of an option that may be repeated, which typer gives as a list
NOTHING: Any = ()


class Frame:
    """One run of a stage: its settings, seed and expected code, as they came on the command line."""

    def __init__(self, stage: str, config: str | None, seed: int | None, code: str | None):
        self.stage, self.config, self.seed, self.code = stage, config, seed, code
        self._settings: BaseModel | dict | None = None

    def settings(self, model: type[S]) -> S:
        """The settings, checked; kept for the record."""
        settings = parse_settings(model, self.config, self.stage)
        self._settings = settings
        return settings

    def note(self, more: dict) -> None:
        """Keep ``more`` settings for the record, and for what tells this run from others."""
        known = self._settings.model_dump(mode="json") if isinstance(self._settings, BaseModel) else {}
        self._settings = {**known, **more}

    def run(
        self,
        work: Callable[[], dict[str, int]],
        inputs: Iterable[Path],
        outputs: Sequence[Path],
        note: Path | None = None,
        **plugins: str | list[str],
    ) -> None:
        """Run ``work``, write its record, and print its counts."""
        counts = run_stage(
            self.stage,
            modules_of(self.stage, **plugins),
            work,
            inputs=inputs,
            outputs=outputs,
            settings=self._settings,
            seed=self.seed,
            code=self.code,
            note=note,
        )
        typer.echo(f"{self.stage}: " + (", ".join(f"{key} {value:,}" for key, value in counts.items()) or "done"))


def parse_shard(text: str) -> tuple[int, int]:
    """``2-of-4`` as (1, 4): the shard's number from 0, and the number of shards."""
    number, _, total = text.partition("-of-")
    if not (number.isdecimal() and total.isdecimal() and 1 <= int(number) <= int(total)):
        raise InputError(f"--shard {text!r} is not of the form 2-of-4.")
    return int(number) - 1, int(total)


def image_folders(named: Iterable[str]) -> dict[str, Path]:
    """The folders of pictures, each given as ``<image space>=<folder>``, by image space."""
    found: dict[str, Path] = {}
    for text in named:
        space, _, folder = text.partition("=")
        if not space or not folder:
            raise InputError(f"--images {text!r} is not of the form SPACE=FOLDER.")
        if space in found:
            raise InputError(f"--images names two folders of {space}, {found[space]} and {folder}: name one.")
        found[space] = Path(folder)
    return found


def parquet_in(folder: Path) -> list[Path]:
    """The tables in a folder, sorted by name; an empty one is an error."""
    found = sorted(folder.glob("*.parquet"))
    if not found:
        raise InputError(f"{folder} holds no table: run the stage that makes them first.")
    return found


def graph_tables(graphs: Path) -> tuple[list[Path], list[Path], list[Path], list[Path]]:
    """The tables subgraphs, occurrences, seeds and candidates of a graph's folder."""
    subgraphs, occurrences, seeds, candidates = (
        parquet_in(graphs / name) for name in ("subgraphs", "occurrences", "seeds", "candidates")
    )
    return subgraphs, occurrences, seeds, candidates


def optional(path: Path | None) -> list[Path]:
    """An input that may be left out, as a list."""
    return [] if path is None else [path]


def scene_tables(folder: Path) -> list[Path]:
    """The five tables of scenes in a folder, and those of places where there are any."""
    tables = [folder / f"{name}.parquet" for name in ("scenes", "objects", "attributes", "relations", "modifiers")]
    return tables + [path for name in ("positions", "directions") if (path := folder / f"{name}.parquet").exists()]


def place_tables(folder: Path) -> list[Path]:
    """The two tables that scenes in a folder have besides, where a source of theirs knows where things are in space."""
    return [folder / f"{name}.parquet" for name in ("positions", "directions")]


def add(app: typer.Typer, *commands: Callable[..., None]) -> None:
    """Add commands to the command line, in this order."""
    for command in commands:
        app.command(command.__name__.replace("_", "-"))(command)
