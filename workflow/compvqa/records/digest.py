"""What code a stage runs, as a hash.

Snakemake reruns a rule when its ``params`` change, and does not see the Python modules that a shell line
imports. So every rule has ``params: code=code_digest("compvqa.<module>")``: a hash of the module and of all
that it imports inside the package, over the syntax tree without comments, docstrings and formatting. A module's
data are in the JSON file of its name beside it (``words.py``, ``words.json``) and count as its code.

To parse the package takes a second, and every plan and every job asks: what was found in a module is kept with Python's
own bytecode, in a cache that holds as long as the bytes of the module are the same.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.util import cache_from_source
from pathlib import Path
from typing import NamedTuple

import compvqa
from compvqa.errors import not_python

PACKAGE = "compvqa"
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_UNSAID = ("ctx", "type_comment", "kind")  # what the place tells, and what says nothing
_ROOT = Path(__file__).resolve().parents[2]


class _Code(NamedTuple):
    """What is known of a module: a hash of its files and of this one, the package's names that its import statements
    may mean, and the hash of its code."""

    files: str
    names: tuple[str, ...]
    digest: str


def code_digest(*modules: str) -> str:
    """A hash of the named modules (``compvqa.tables``) and all that they import inside the package.

    Stable across Python versions, machines and folders. An unknown module raises ``ModuleNotFoundError``.
    """
    digest = blake2b(digest_size=12)
    for module in sorted(closure(*modules)):
        digest.update(f"{module}\0{_code(module).digest}\n".encode())
    _kept().write()
    return digest.hexdigest()


def package_digest() -> str:
    """A hash of all modules of the package."""
    paths = (path.relative_to(_ROOT).with_suffix("") for path in (_ROOT / PACKAGE).rglob("*.py"))
    return code_digest(*(".".join(path.parts).removesuffix(".__init__") for path in paths))


def files_digest(*paths: Path) -> str:
    """A hash of the names and bytes of files, and of the files in folders (pages' templates)."""
    digest = blake2b(digest_size=12)
    inside = [sorted(path.iterdir()) if path.is_dir() else [path] for path in paths]
    for path in (path for files in inside for path in files if path.is_file()):
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
        _found(module)
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


def _found(module: str) -> Path:
    if (path := _source(module)) is None:
        raise ModuleNotFoundError(f"{module} is not a module of {PACKAGE}")
    return path


def _imports(module: str) -> list[str]:
    """The package modules that ``module`` names in its import statements, wherever they stand."""
    return [name for name in _code(module).names if exists(name)]


@cache
def _code(module: str) -> _Code:
    """What there is to know of a module: as it was kept, where its files are as they were, or found in its source."""
    source, data = _found(module).read_bytes(), _data(module)
    files = blake2b(digest_size=16)
    for content in (Path(__file__).read_bytes(), source, data):
        files.update(b"%d\0" % len(content) + content)
    known = _kept().codes.get(module)
    if known is None or known.files != files.hexdigest():
        try:
            tree = ast.parse(source)
        except SyntaxError as error:
            raise not_python(error, _found(module)) from None
        digest = blake2b("\n".join(_canonical(tree, [])).encode(), digest_size=12)
        digest.update(data)
        known = _Code(files.hexdigest(), _names(module, tree), digest.hexdigest())
        _kept().add(module, known)
    return known


def _data(module: str) -> bytes:
    path = _found(module).with_suffix(".json")
    return path.read_bytes() if path.is_file() else b""


class _Kept:
    """A file beside the package's bytecode with what is known of its modules."""

    def __init__(self) -> None:
        self.path = Path(cache_from_source(str(_ROOT / PACKAGE / "digests.py"))).with_suffix(".json")
        self.codes: dict[str, _Code] = {}
        self.new = False
        with suppress(OSError, ValueError, TypeError):  # not there, or damaged: as if nothing were known
            kept = dict(json.loads(self.path.read_text(encoding="utf-8")))
            self.codes = {module: _Code(files, tuple(names), digest) for module, (files, names, digest) in kept.items()}

    def add(self, module: str, code: _Code) -> None:
        self.codes[module], self.new = code, True

    def write(self) -> None:
        """Write the file if there is anything new. Where it cannot be, the next process parses again."""
        if self.new and not sys.dont_write_bytecode:
            part = self.path.with_name(f"{self.path.name}.{os.getpid()}")
            try:
                self.path.parent.mkdir(exist_ok=True)
                part.write_text(json.dumps(self.codes), encoding="utf-8")
                part.replace(self.path)
            except OSError:
                with suppress(OSError):
                    part.unlink()
        self.new = False


@cache
def _kept() -> _Kept:
    return _Kept()


def _names(module: str, tree: ast.Module) -> tuple[str, ...]:
    """The names of the package, of modules or of what is in them, that the import statements of a module hold."""
    package = module if _found(module).name == "__init__.py" else module.rpartition(".")[0]
    found: set[str] = set()
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([node.module] if node.module else [])])
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return tuple(sorted(name for name in found if name.split(".")[0] == PACKAGE))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements within ``node``, and what holds them; not what they are made of."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.stmt | ast.excepthandler | ast.match_case):
            yield part
            yield from _statements(part)


def _canonical(node: ast.AST, lines: list[str]) -> list[str]:
    """Add the syntax tree to ``lines``: node types and values, without positions, docstrings and empty fields.

    They are gathered in one list: each job reads the code that it runs, and generators within generators take thrice
    the time.
    """
    kind = type(node)
    lines.append("(" + kind.__name__)
    for name in kind._fields:
        value = getattr(node, name, None)
        if name == "body" and isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            value = node.body[1:]
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
