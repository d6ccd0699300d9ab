"""What is said of changed settings."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping


def change(before: Iterable[str], now: Iterable[str], names: Mapping[str, str]) -> str:
    """What changed in a job's parameters, in words.

    ``before`` and ``now`` are the representations of values that only the last run, and only this one, has; ``names``
    are the parameters' names by the representations of their values now.
    """
    before, now = sorted(before), sorted(now)
    changed = {names[value] for value in now if value in names}
    if "code" in changed:
        return "code changed"
    keys = set()
    for name in changed:
        new = next(value for value in now if names.get(value) == name)
        keys |= _keys(new, before) or {name}
    return f"settings changed: {', '.join(sorted(keys))}" if keys else "settings changed"


def _keys(new: str, before: Iterable[str]) -> set[str]:
    """The keys that differ between a JSON value and the one of the last run that is most like it."""
    after = dict(_leaves(_parsed(new)))
    differing = [
        {key.removeprefix(".") for key in then.keys() | after.keys() if then.get(key) != after.get(key)}
        for then in (dict(_leaves(_parsed(old))) for old in before)
        if then.keys() & after.keys() - {""}
    ]
    return min(differing, key=len, default=set())


def _parsed(text: str) -> object:
    """The object behind the representation of a string that holds JSON, None behind any other."""
    try:
        return json.loads(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError):
        return None


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, f"{path}.{key}")
    else:
        yield path, value
