"""The command line: one command a stage, `python -m compvqa <stage> …`.

The workflow calls these commands; each can be run by hand as well. `python -m compvqa STAGE --help` says what a stage
takes and gives.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cache
from typing import NoReturn

import typer
from typer.models import CommandInfo, TyperInfo

from compvqa import plugins
from compvqa.errors import InputError, disk_full, not_allowed, not_installed

app = typer.Typer(
    name="compvqa",
    help="From raw scene graphs to compositional VQA test-beds, models, tables and figures. "
    "The whole chain: `snakemake --cores all`; one stage by hand: the commands below, in the order of the chain.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    callback=lambda: None,  # so that its commands have names although there may be one alone
)


@cache
def commands() -> list[str]:
    """Add all commands to the command line, in the order of the chain, engines' among them; their names."""
    from compvqa.cli import asking, auditing, data, features, models, paper, publish, scoring

    data.before(app)
    for engine in plugins.engines():
        plugins.engine_part(engine, "cli").add_to(app)
    data.after(app)
    for part in (features, models, asking, scoring, paper, publish, auditing):
        part.add_to(app)
    return list(_names(app))


def _narrowed(app: typer.Typer, words: Sequence[str]) -> typer.Typer:
    """The command line with only the command that ``words`` begin with, if they do: typer prepares the options of all
    that it has."""
    own = [command for command in app.registered_commands if [_name(command)] == [*words[:1]]]
    groups = [copy(group) for group in app.registered_groups if [_name_of_group(group)] == [*words[:1]]]
    if not own and not groups:
        return app
    for group in groups:
        group.typer_instance = group.typer_instance and _narrowed(group.typer_instance, words[1:])
    made = copy(app)
    made.registered_commands, made.registered_groups = own, groups
    return made


def _names(app: typer.Typer) -> Iterator[str]:
    """The names of its commands; of one in a group, such as ``clevr world``, after the group's."""
    yield from map(_name, app.registered_commands)
    for group in app.registered_groups:
        if group.typer_instance:
            yield from (f"{_name_of_group(group)} {name}" for name in _names(group.typer_instance))


def _name(command: CommandInfo) -> str:
    return str(command.name or getattr(command.callback, "__name__", ""))


def _name_of_group(group: TyperInfo) -> str:
    return str(group.typer_instance and group.typer_instance.info.name)


def _mendable(error: Exception) -> InputError | None:
    return disk_full(error) or not_allowed(error) or plugins.of_own_code(error) or not_installed(error)


def run() -> NoReturn:
    """:func:`main`, and after success the process ends without taking apart all that Python holds: that takes a third
    of a second with torch, and seconds with many scene graphs."""
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    atexit._run_exitfuncs()  # those of libraries
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        os._exit(1)
    os._exit(0)


def main() -> None:
    """Run the command line; what the user can mend is told in one sentence."""
    # torch and transformers make many objects that stay: to look through them often is a tenth of their loading
    gc.set_threshold(500_000, 20, 100)
    try:
        commands()
        _narrowed(app, sys.argv[1:])()
    except BrokenPipeError:
        os._exit(1)
    except Exception as error:
        told = error if isinstance(error, InputError) else _mendable(error)
        if told is None:
            raise
        sys.stderr.write(f"compvqa: {told}\n")  # print writes the line's end apart, after that of another job
        sys.exit(1)
