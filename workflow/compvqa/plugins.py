"""Plug-ins: modules of a package that are found by their name, such as readers, models and tables.

A name with a dot is of an engine: ``<engine>.<name>`` of the package ``paper.tables`` is the module of that name in
``paper.tables`` inside the engine's folder.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path
from types import ModuleType

from compvqa.errors import InputError

ROOT = "compvqa"
NAME = re.compile(r"([a-z][a-z0-9_]*\.)?[a-z][a-z0-9_]*")


def module_name(package: str, name: str) -> str:
    """The full name of the plug-in ``name`` of a package (such as that of tables)."""
    engine, _, last = name.rpartition(".")
    return f"{ROOT}.{engine}{package.removeprefix(ROOT)}.{last}" if engine else f"{package}.{last}"


def find(package: str, name: str, has: str, what: str) -> ModuleType:
    """The plug-in ``name`` of ``package``, a module that has the attribute ``has``.

    InputError says which there are where it is none; ``what`` is how it calls one (``reader``).
    """
    full = module_name(package, name)
    try:
        module = importlib.import_module(full) if NAME.fullmatch(name) else None
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
    return importlib.import_module(f"{ROOT}.{engine}.{name}")
