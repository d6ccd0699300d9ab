"""The files that a config names: splits, models, pages and templates are each one file of a folder, found by name.

The folders are those of the project's ``config/`` and, before them, those beside the user's own config.
"""

from __future__ import annotations

import hashlib
import re
from copy import deepcopy
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from compvqa.errors import InputError
from compvqa.files import read_yaml
from compvqa.settings import as_json


class Definitions:
    """The files of some folders, such as ``config/splits``, by name, as data; each is read once.

    Of two files of one name that of the first folder counts: a user's own come before those of the project. ``nested``:
    they lie in folders inside, and their names are ``<folder>/<file>``.
    """

    def __init__(self, *folders: Path, nested: bool = False):
        self.folders = [folder for folder in folders if folder.is_dir()]
        self._kind = f"config/{folders[-1].name}"
        self._parts = 2 if nested else 1
        self._read: dict[str, dict[str, Any]] = {}

    def names(self) -> list[str]:
        """The names of all of them, sorted."""
        return sorted(self._found)

    def path(self, name: str) -> Path:
        """The file of this name; :class:`InputError` names those there are."""
        if not re.fullmatch("[a-z0-9][a-z0-9_-]*" + "(/[a-z0-9][a-z0-9_-]*)?" * (self._parts - 1), name):
            raise InputError(f"{name!r} names no file of {self._kind}: names have a-z, 0-9, _ and - alone.")
        if path := self._found.get(name):
            return path
        if places := " or ".join(self._places(name)):
            raise InputError(f"{self._kind} has no {name}.yaml: its files lie in folders, so write {places}.")
        known = ", ".join(self.names())
        raise InputError(f"{self._kind} has no {name}.yaml: correct the name (there are {known}).")

    def load(self, name: str) -> dict[str, Any]:
        """The content of ``<name>.yaml``."""
        if name not in self._read:
            self._read[name] = read_yaml(self.path(name))
            _check_values(self.path(name), self._read[name])
        return deepcopy(self._read[name])

    @cached_property
    def _found(self) -> dict[str, Path]:
        """The files by name, listed once: a plan asks for them hundreds of times."""
        pattern = "/".join(["*"] * self._parts) + ".yaml"
        return {
            path.relative_to(folder).with_suffix("").as_posix(): path
            for folder in reversed(self.folders)
            for path in folder.glob(pattern)
        }

    def _places(self, name: str) -> list[str]:
        """The names of nested files that a name without a folder may mean: table6, or <something>-table6."""
        stems = {known: known.rpartition("/")[2] for known in self.names() if "/" in known}
        same = [known for known, stem in stems.items() if name == stem]
        return same or [known for known, stem in stems.items() if name.endswith(f"-{stem}")]

    def digest(self, *names: str) -> str:
        """A hash of the content of the named files, or of all; comments and formatting do not count."""
        data = as_json({name: self.load(name) for name in names or self.names()})
        return hashlib.blake2b(data.encode(), digest_size=12).hexdigest()


def _check_values(path: Path, value: object, where: str = "") -> None:
    """Refuse what YAML takes for what JSON has not, such as a date, wherever it stands in the data of a file."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value, 1):
            if not isinstance(key, str | int | float | bool | None):
                _refuse(path, key, f"a key of {where or 'the file'}")
            _check_values(path, inner, f"{where}.{key}" if where else str(key))
    elif not isinstance(value, str | int | float | bool | None):
        _refuse(path, value, where)


def _refuse(path: Path, value: object, where: str) -> None:
    kind = "a date" if isinstance(value, date) else f"a {type(value).__name__}"
    raise InputError(f"{path} has {kind} ({value}) where a text is meant ({where}): put it in quotes.")
