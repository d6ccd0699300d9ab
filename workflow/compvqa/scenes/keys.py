"""The keys that records of a format have: a misspelt one is told from one that is merely unknown."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from compvqa.scenes.raw import Report, printable
from compvqa.scenes.stream import Repeated

ALIKE = 0.75  # of difflib: a letter more, less or other in a key of four
COUNTED = 20  # unknown keys that are counted by name
REMEMBERED = 10_000  # sets of keys whose verdict is kept


def meant(key: str, known: Iterable[str]) -> str | None:
    """The one of the ``known`` keys that ``key`` most looks like, case aside; None where none does."""
    by_lower = {name.lower(): name for name in sorted(known)}
    found = get_close_matches(key.lower(), list(by_lower), 1, ALIKE)
    return by_lower[found[0]] if found else None


class Keys:
    """The keys of one kind of record ("object"): those that are ``read``, and ``others`` that the format has."""

    def __init__(self, kind: str, read: Iterable[str], others: Iterable[str] = ()):
        self.kind = kind
        self.read = tuple(read)
        self.known = frozenset((*self.read, *others))
        self._verdicts: dict[tuple[str, ...], tuple[str, list[str]]] = {}

    def wrong(self, record: dict, report: Report) -> str:
        """Why ``record`` must be refused: a key of it is repeated, or unknown and looks like one that it lacks
        ("attribute" for "attributes"); empty where it is fine. Other unknown keys are counted."""
        if isinstance(record, Repeated):
            return f"{self.kind}: key {printable(record.keys_repeated[0], 40)!r} repeated"
        if self.known.issuperset(record):
            return ""
        keys = tuple(record)
        if keys not in self._verdicts:
            if len(self._verdicts) >= REMEMBERED:
                self._verdicts.clear()
            self._verdicts[keys] = self._decided(keys)
        wrong, unknown = self._verdicts[keys]
        for key in unknown:
            report.count(self._counter(key, report))
        return wrong

    def _decided(self, keys: tuple[str, ...]) -> tuple[str, list[str]]:
        unknown = [key for key in keys if key not in self.known]
        lacking = [key for key in self.read if key not in keys]
        for key in unknown:
            if name := meant(key, lacking):
                return f"{self.kind}: unknown key {printable(key, 40)!r}, did you mean {name!r}?", []
        return "", unknown

    def _counter(self, key: str, report: Report) -> str:
        start = f"{self.kind}s with the unknown key "
        what = f"{start}{printable(key, 40)!r}"
        if what not in report.counts and sum(name.startswith(start) for name in report.counts) >= COUNTED:
            return f"{self.kind}s with more unknown keys"
        return what
