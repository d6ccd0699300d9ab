"""PyTorch takes seconds and half a gigabyte to import: only what trains, extracts features or predicts does so.

Told from the syntax trees, so that imports inside functions count: what a command's own function and its helpers
import, and all that this imports in turn inside the package.
"""

import ast
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer

from compvqa.cli import auditing, data, graphs, images, judging, models, paper, publish, scoring, words
from compvqa.provenance import digest
from compvqa.stages import MODULES

HEAVY = ("torch", "transformers", "accelerate", "safetensors.torch")
MAY = {
    "features": "encodes pictures",
    "word-filter": "trains",
    "word-scores": "predicts held-out pairs by the word filter",
    "image-filter": "trains",
    "pretrain": "trains",
    "train": "trains",
    "predict": "predicts",
}
LEARNED = {"compvqa.filters.overlap.learned", "compvqa.filters.presence.learned"}  # predict, where a config asks for it
NETS = "compvqa.models."  # a stage that is given one predicts by it


def commands() -> dict[str, Callable]:
    """The functions of all commands, by name."""
    app = typer.Typer()
    for part in (data, words, images, models, scoring, judging, paper, publish, auditing, graphs):
        part.add_to(app)
    found = app.registered_commands
    return {command.name or command.callback.__name__.replace("_", "-"): command.callback for command in found}


def imported(function: Callable) -> set[str]:
    """The package's modules that a function, and the functions of its module that it names, import in their bodies."""
    helpers = {name: item for name, item in vars(inspect.getmodule(function)).items() if inspect.isfunction(item)}
    names, seen, waiting = set(), set(), [function]
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
            if isinstance(node, ast.ImportFrom):
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Name) and node.id in helpers:
                waiting.append(helpers[node.id])
    return {name for name in names if name.startswith("compvqa.") and digest.exists(name)}


def heavy(*modules: str) -> list[str]:
    """What these modules, and all that they import in turn, import of :data:`HEAVY`."""
    found = []
    for module in sorted(digest.closure(*modules)):
        for node in digest._statements(digest._tree(module)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            found += [f"{module}: {name}" for name in names if f"{name}.".startswith(tuple(f"{h}." for h in HEAVY))]
    return found


def chosen() -> Iterator[tuple[str, str]]:
    """Each stage with each module that a config may choose for it."""
    for stage, modules in MODULES.items():
        for before in (module.partition("{")[0] for module in modules if "{" in module):
            folder = Path(inspect.getfile(sys.modules["compvqa"])).parents[1].joinpath(*before.rstrip(".").split("."))
            for path in sorted(folder.glob("[a-z]*.py")):
                yield stage, f"{before}{path.stem}"


@pytest.mark.parametrize("name", sorted(commands()))
def test_only_what_trains_extracts_or_predicts_imports_torch(name):
    found = heavy(*imported(commands()[name]))
    assert bool(found) == (name in MAY), found


def test_no_module_that_a_config_chooses_brings_torch_to_a_stage_that_does_not_predict():
    may = {name.replace("-", "_") for name in MAY}
    found = {
        (stage, module): heavy(module)
        for stage, module in chosen()
        if stage not in may and module not in LEARNED and (stage == "baseline" or not module.startswith(NETS))
    }
    nets = {module for (stage, module), names in found.items() if stage == "baseline" and names}
    baselines = {"compvqa.models.maj", "compvqa.models.majtempl"}
    assert len(found) > 60 and not nets & baselines
    assert not {key: names for key, names in found.items() if names and key[1] not in nets}


def test_the_command_line_and_the_workflow_s_rules_start_without_torch(root):
    code = "import sys; from compvqa import cli, config, stages; import compvqa.planning.forecast; "
    code += "from compvqa.cli import auditing, data, graphs, images, judging, models, paper, publish, scoring, words; "
    code += f"print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root / "workflow", capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
