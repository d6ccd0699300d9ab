"""Plug-ins: modules of a package that are found by their name, such as readers, models and tables.

A name with a dot is of an engine: ``<engine>.<name>`` of the package ``paper.tables`` is the module of that name in
``paper.tables`` inside the engine's folder.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import traceback
from pathlib import Path
from types import ModuleType

from compvqa.errors import InputError, not_python

ROOT = "compvqa"
NAME = re.compile(r"([a-z][a-z0-9_]*\.)?[a-z][a-z0-9_]*")


def module_name(package: str, name: str) -> str:
    """The full name of the plug-in ``name`` of a package (such as that of tables)."""
    engine, _, last = name.rpartition(".")
    return f"{ROOT}.{engine}{package.removeprefix(ROOT)}.{last}" if engine else f"{package}.{last}"


def file_of(module: str, name: str) -> str:
    """Where a user would write the plug-in ``name``, whose module is ``module``, for messages."""
    path = f"{module.removeprefix(f'{ROOT}.').replace('.', '/')}.py"
    if module.startswith(f"{ROOT}.{name.partition('.')[0]}."):  # of an engine or a language
        return f"plugins/{path} beside your config (docs/adding.md)"
    return f"plugins/<yours>/{path} beside your config and name it <yours>.{name} (docs/adding.md)"


def load(module: str) -> ModuleType:
    """The module of this full name. InputError where a file of the user's own is no Python or imports what is not
    there; ModuleNotFoundError where there is no such module."""
    try:
        return importlib.import_module(module)
    except (SyntaxError, ImportError) as error:
        if told := of_own_code(error):
            raise told from None
        raise


def of_own_code(error: BaseException) -> InputError | None:
    """What to tell where ``error`` is that a file of the user's is no Python or imports what is not there; else None.

    Of a mistake in what it does, its author wants the stack trace."""
    own = importlib.import_module(ROOT).__path__[1:]  # the folders of COMPVQA_PLUGINS

    def mine(file: str | None) -> bool:
        return bool(file) and any(Path(str(file)).absolute().is_relative_to(Path(folder).absolute()) for folder in own)

    if isinstance(error, SyntaxError):
        return not_python(error) if mine(error.filename) else None
    where = [frame for frame in traceback.extract_tb(error.__traceback__) if mine(frame.filename)]
    if not isinstance(error, ImportError) or not where:
        return None
    file, line = where[-1].filename, where[-1].lineno
    return InputError(
        f"{file}, line {line}, imports what is not there ({error}): correct it, or install what it needs."
    )


def find(package: str, name: str, has: str, what: str) -> ModuleType:
    """The plug-in ``name`` of ``package``, a module that has the attribute ``has``.

    InputError says which there are where it is none; ``what`` is how it calls one (``reader``).
    """
    full = module_name(package, name)
    try:
        module = load(full) if NAME.fullmatch(name) else None
    except ModuleNotFoundError as error:
        if not (error.name and f"{full}.".startswith(f"{error.name}.")):
            raise
        module = None
    if module is None:
        raise InputError(f"there is no {what} {name!r}: use one of {', '.join(names(package))}.")
    if not hasattr(module, has):
        raise InputError(f"{full}, named as {what}, has no {has}: write it there, or name another {what}.")
    return module


def names(package: str) -> list[str]:
    """The names of the modules of ``package``, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(importlib.import_module(package).__path__))


def engines() -> list[str]:
    """The engines: the folders of the package that have stages of their own (``stages.py``), by their names, sorted."""
    package = importlib.import_module(ROOT)
    found = {path.parent.name for folder in package.__path__ for path in Path(folder).glob("[a-z]*/stages.py")}
    return sorted(found)


def engine_part(engine: str, name: str) -> ModuleType:
    """The module ``name`` of an engine's folder: ``stages``, ``settings`` or ``cli``."""
    return load(f"{ROOT}.{engine}.{name}")
