"""Templates are linted from the command line: nothing found is 0, something 1."""

import json

import typer
from typer.testing import CliRunner

from compvqa.clevr.cli import add_to
from fixtures.clevr_scenes import record

app = typer.Typer()
app.callback()(lambda: None)
add_to(app)


def run(*arguments):
    done = CliRunner().invoke(app, ["clevr", "lint", *map(str, arguments)])
    return done.exit_code, done.stdout.splitlines()


def test_findings_are_printed_and_end_with_1(root, tmp_path):
    scenes = tmp_path / "scenes.json"
    scenes.write_text(json.dumps({"info": {}, "scenes": [record(number) for number in range(40)]}))
    file = root / "config/templates/clevr/compare_integer.json"
    options = ["--words", root / "config/words/clevr.json", "--scenes", scenes, "--most", 30]
    assert run(file, *options) == (0, ["9 templates, 0 findings"])
    code, lines = run(file, *options, "--distinct", "outputs")
    assert (code, len(lines), lines[-1]) == (1, 2, "9 templates, 1 findings")
    assert lines[0].startswith("compare_integer_0: one answer: no, since ")
    whole = root / "config/templates/clevr"
    assert run(whole, *options[:2], "--most", 20) == (0, ["90 templates, 0 findings"])
