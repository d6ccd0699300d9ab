"""The files that a config names: splits, models, pages and templates are each one file of a folder, found by name."""

from __future__ import annotations

import hashlib
import re
from copy import deepcopy
from pathlib import Path

from compvqa.errors import InputError
from compvqa.files import read_yaml
from compvqa.settings import as_json


class Definitions:
    """The files of a folder of ``config/``, by name, as data; each is read once.

    ``nested``: they lie in folders inside it, and their names are ``<folder>/<file>``.
    """

    def __init__(self, folder: Path, nested: bool = False):
        self.folder = folder
        self._parts = 2 if nested else 1
        self._read: dict[str, dict] = {}

    def names(self) -> list[str]:
        """The names of all of them, sorted."""
        found = self.folder.glob("/".join(["*"] * self._parts) + ".yaml")
        return sorted(path.relative_to(self.folder).with_suffix("").as_posix() for path in found)

    def load(self, name: str) -> dict:
        """The content of ``<name>.yaml``; :class:`InputError` names the files there are."""
        if name not in self._read:
            self._read[name] = self._content(name)
        return deepcopy(self._read[name])

    def _content(self, name: str) -> dict:
        where = f"config/{self.folder.name}"
        if not re.fullmatch("[a-z0-9][a-z0-9_-]*" + "(/[a-z0-9][a-z0-9_-]*)?" * (self._parts - 1), name):
            raise InputError(f"{name!r} names no file of {where}: names have a-z, 0-9, _ and - alone.")
        if name in self.names():
            return read_yaml(self.folder / f"{name}.yaml")
        if places := " or ".join(self._places(name)):
            raise InputError(f"{where} has no {name}.yaml: its files lie in folders, so write {places}.")
        known = ", ".join(self.names())
        raise InputError(f"{where} has no {name}.yaml: correct the name (there are {known}).")

    def _places(self, name: str) -> list[str]:
        """The names of nested files that a name without a folder may mean: table6, or <something>-table6."""
        stems = {known: known.rpartition("/")[2] for known in self.names() if "/" in known}
        same = [known for known, stem in stems.items() if name == stem]
        return same or [known for known, stem in stems.items() if name.endswith(f"-{stem}")]

    def digest(self, *names: str) -> str:
        """A hash of the content of the named files, or of all; comments and formatting do not count."""
        data = as_json({name: self.load(name) for name in names or self.names()})
        return hashlib.blake2b(data.encode(), digest_size=12).hexdigest()
