"""The command line prepares the command that is asked for alone, as if all others were there."""

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from compvqa.cli import _narrowed, app, commands

RUN = CliRunner()


@pytest.mark.parametrize("name", commands())
def test_a_command_alone_tells_what_it_tells_among_all(name):
    words = name.split()
    alone = _narrowed(app, words)
    command, names = get_command(alone), []
    while hasattr(command, "commands"):
        ((only, command),) = command.commands.items()
        names.append(only)
    assert names == words
    told = RUN.invoke(alone, [*words, "--help"])
    assert told.exit_code == 0 and told.output == RUN.invoke(app, [*words, "--help"]).output


@pytest.mark.parametrize("words", [[], ["--help"], ["splitt"], ["clevr"], ["clevr", "--help"], ["clevr", "splitt"]])
def test_all_are_there_where_none_is_named(words):
    told = RUN.invoke(_narrowed(app, words), words)
    whole = RUN.invoke(app, words)
    assert (told.output, told.exit_code) == (whole.output, whole.exit_code)
    assert "No such command" in told.output or "Commands:" in told.output
