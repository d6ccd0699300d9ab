"""What code a stage runs, as a hash.

Snakemake reruns a rule when its ``params`` change, and does not see the Python modules that a shell line
imports. So every rule has ``params: code=code_digest("compvqa.<module>")``: a hash of the module and of all
that it imports inside the package, over the syntax tree without comments, docstrings and formatting. A module's
data are in the JSON file of its name beside it (``words.py``, ``words.json``) and count as its code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path

import compvqa

PACKAGE = "compvqa"
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_UNSAID = ("ctx", "type_comment", "kind")  # what the place tells, and what says nothing
_ROOT = Path(__file__).resolve().parents[2]


def code_digest(*modules: str) -> str:
    """A hash of the named modules (``compvqa.tables``) and all that they import inside the package.

    Stable across Python versions, machines and folders. An unknown module raises ``ModuleNotFoundError``.
    """
    digest = blake2b(digest_size=12)
    for module in sorted(closure(*modules)):
        digest.update(f"{module}\0{_module_digest(module)}\n".encode())
    return digest.hexdigest()


def package_digest() -> str:
    """A hash of all modules of the package."""
    paths = (path.relative_to(_ROOT).with_suffix("") for path in (_ROOT / PACKAGE).rglob("*.py"))
    return code_digest(*(".".join(path.parts).removesuffix(".__init__") for path in paths))


def files_digest(folder: Path) -> str:
    """A hash of the names and bytes of the files in ``folder`` (pages' templates)."""
    digest = blake2b(digest_size=12)
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def closure(*modules: str) -> set[str]:
    """The named modules and all package modules that they import, directly or not."""
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        if not exists(module):
            raise ModuleNotFoundError(f"{module} is not a module of {PACKAGE}")
        seen.add(module)
        parents = (module.rsplit(".", n)[0] for n in range(1, module.count(".") + 1))
        waiting += [*_imports(module), *filter(exists, parents)]  # a folder may have no __init__.py
    return seen


def exists(module: str) -> bool:
    """Whether the package has a module of this name."""
    return _source(module) is not None


@cache
def _source(module: str) -> Path | None:
    """The file of a module of the package, or of a user's package within it (``COMPVQA_PLUGINS``)."""
    package, *parts = module.split(".")
    for folder in compvqa.__path__ if package == PACKAGE else []:
        base = Path(folder, *parts)
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file():
                return path
    return None


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_source(module).read_text(encoding="utf-8"))


@cache
def _imports(module: str) -> tuple[str, ...]:
    """The package modules that ``module`` names in its import statements, wherever they stand."""
    package = module if _source(module).name == "__init__.py" else module.rpartition(".")[0]
    found = set()
    for node in _statements(_tree(module)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([node.module] if node.module else [])])
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return tuple(sorted(m for m in found if m.split(".")[0] == PACKAGE and _source(m)))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements within ``node``, and what holds them; not what they are made of."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.stmt | ast.excepthandler | ast.match_case):
            yield part
            yield from _statements(part)


@cache
def _module_digest(module: str) -> str:
    digest = blake2b("\n".join(_canonical(_tree(module), [])).encode(), digest_size=12)
    data = _source(module).with_suffix(".json")
    if data.is_file():
        digest.update(data.read_bytes())
    return digest.hexdigest()


def _canonical(node: ast.AST, lines: list[str]) -> list[str]:
    """Add the syntax tree to ``lines``: node types and values, without positions, docstrings and empty fields.

    They are gathered in one list: each job reads the code that it runs, and generators within generators take thrice
    the time.
    """
    kind = type(node)
    lines.append("(" + kind.__name__)
    for name in kind._fields:
        value = getattr(node, name, None)
        if name == "body" and kind in _DOCUMENTED and ast.get_docstring(node, clean=False) is not None:
            value = value[1:]
        if value is None or value == [] or name in _UNSAID:
            continue
        lines.append(name)
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                _canonical(item, lines)
            else:
                lines.append(f"{type(item).__name__}:{item!r}")
    lines.append(")")
    return lines
