"""No module that a config may choose brings PyTorch to a stage that neither trains, extracts features nor predicts.

Told from the syntax trees, so that imports inside functions count, and all that they import in turn in the package.
"""

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from compvqa.records import digest
from compvqa.stages import all_stages
from fixtures.sitecustomize import HEAVY, MAY


def heavy(*modules: str) -> list[str]:
    """What these modules, and all that they import in turn, import of :data:`HEAVY`."""
    found = []
    for module in sorted(digest.closure(*modules)):
        for node in digest._statements(ast.parse(digest._source(module).read_bytes())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            found += [f"{module}: {name}" for name in names if f"{name}.".startswith(tuple(f"{h}." for h in HEAVY))]
    return found


def modules(stage: str) -> Iterator[str]:
    """The modules of a stage, with all that a config may choose for it but those that predict by trained models."""
    for module in all_stages()[stage]:
        before, _, rest = module.partition("{")
        choice, _, after = rest.partition("}")
        if not choice:
            yield module
        elif choice == "language":
            yield f"{before}covr{after}"
        elif choice == "model":  # of baselines; other stages with one train it
            yield from (f"{before}{name}" for name in ("maj", "majtempl"))
        elif choice != "models":
            (folder,) = find_spec(before.rstrip(".")).submodule_search_locations
            yield from (f"{before}{path.stem}" for path in Path(folder).glob("[a-z]*.py") if path.stem != "learned")


@pytest.mark.parametrize("stage", all_stages())
def test_only_what_trains_extracts_or_predicts_imports_torch(stage):
    found = heavy(*modules(stage))
    assert bool(found) == (stage.replace("_", "-") in MAY), found


def test_plans_import_no_torch():
    assert heavy("compvqa.planning.forecast", "compvqa.planning.measure") == []
