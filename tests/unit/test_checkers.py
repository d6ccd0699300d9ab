"""What checks the code: the same checkers in ``make lint`` and before a commit, and plug-ins that are what is asked."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from compvqa import plugins
from compvqa.programs import wings

PACKAGE = Path(plugins.__file__).parent
# The protocol of what is found by name, the package where it is found, and what other modules there have not
FOUND = [
    ("compvqa.splits.setups.SetupModule", "compvqa.splits.setups", "SETUP"),
    ("compvqa.evaluation.contrasts.Contrast", "compvqa.evaluation.contrasts", "rows"),
    ("compvqa.models.baseline.Baseline", "compvqa.models", "COLUMNS"),
    ("compvqa.training.modules.ModelModule", "compvqa.models", "ModelSettings"),
    ("compvqa.paper.tables.TableModule", "compvqa.paper.tables", "make"),
    ("compvqa.paper.figures.FigureModule", "compvqa.paper.figures", "make"),
    ("compvqa.paper.tables.TableModule", "compvqa.covr.paper.tables", "make"),
    ("compvqa.paper.figures.FigureModule", "compvqa.covr.paper.figures", "make"),
    ("compvqa.scenes.ingest.Reader", "compvqa.scenes.readers", "read"),
    ("compvqa.features.readers.Reader", "compvqa.features.readers", "read"),
    ("compvqa.config.WorldModule", "compvqa.scenes.worlds", "SETTINGS"),
    ("compvqa.covr.filters.words.overlap.Method", "compvqa.covr.filters.words.methods", "scorer"),
    ("compvqa.covr.questions.templates.Kind", "compvqa.covr.questions.kinds", "drafts"),
]
OF_A_LANGUAGE = {
    "language": "compvqa.programs.wings.LanguageModule",
    "properties": "compvqa.programs.properties.PropertiesModule",
    "facets": "compvqa.programs.facets.FacetsModule",
    "trace": "compvqa.programs.wings.TraceModule",
    "story": "compvqa.provenance.audit.StoryModule",
}


def test_a_commit_runs_the_checkers_of_make_lint(root):
    said = subprocess.run(["make", "-n", "lint"], cwd=root, capture_output=True, text=True, check=True).stdout
    linted = re.findall(r"^\S*bin/(ruff \w+|mypy|snakefmt|snakemake(?=.* --lint))", said, re.MULTILINE)
    (local,) = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())["repos"]
    hooked = [re.match(r"ruff \w+|\w+", hook["entry"])[0] for hook in local["hooks"]]
    assert linted == hooked and "mypy" in linted


def source(module: str) -> str:
    """A module's text, read without importing it: models would load torch."""
    return Path(importlib.util.find_spec(module).origin).read_text()


def modules() -> list[tuple[str, str]]:
    """Each plug-in of ours, by its module's name, after the protocol that it is found by."""
    found = []
    for protocol, package, has in FOUND:
        names = [f"{package}.{name}" for name in plugins.names(package)]
        of_it = [name for name in names if re.search(rf"^(def |class )?{has}\b", source(name), re.MULTILINE)]
        assert of_it, f"no plug-in in {package}"
        found += [(protocol, name) for name in of_it]
    languages = sorted(path.parent.name for path in PACKAGE.glob("*/language.py") if path.parent.name != "programs")
    assert set(OF_A_LANGUAGE) == set(wings.PARTS) and len(languages) >= 2
    return found + [(OF_A_LANGUAGE[part], f"compvqa.{name}.{part}") for name in languages for part in wings.PARTS]


@pytest.mark.parametrize("wrong", [False, True])
def test_plug_ins_are_what_the_place_that_finds_them_asks_for(root, tmp_path, wrong):
    a_table = "compvqa.paper.tables.iid"  # whose make gives no figure
    given = [("compvqa.paper.figures.FigureModule", a_table)] if wrong else modules()
    names = {name for protocol, module in given for name in (protocol.rpartition(".")[0], module)}
    lines = [f"import {name}" for name in sorted(names)]
    lines += [f"plugin_{number}: {protocol} = {module}" for number, (protocol, module) in enumerate(given)]
    file = tmp_path / "plugged.py"
    file.write_text("\n".join([*lines, ""]))
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--no-error-summary", file]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if wrong:
        assert said.returncode == 1 and "-> Figure" in said.stdout, said.stdout + said.stderr
    else:
        assert said.returncode == 0, said.stdout + said.stderr
