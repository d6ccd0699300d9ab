"""Small files that users give or stages keep: text, JSON and YAML, read with errors that say what to do."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import yaml

from compvqa import tables
from compvqa.errors import InputError

CORRECT = "correct the path"
TOO_DEEP = "has brackets in brackets that are too many to be read"
TOO_LONG = "has a number of too many digits"  # Python reads integers of 4,300
# Each job of a workflow reads all small files again: in C that takes a tenth of the time.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_text(path: Path | str, remedy: str = CORRECT) -> str:
    """The text of a file in UTF-8; where it cannot be opened the :class:`InputError` ends with ``remedy``."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path} cannot be opened ({error.strerror}): {remedy}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (near byte {error.start:,}): convert it to UTF-8.") from None


def read_json(path: Path | str, remedy: str = CORRECT) -> dict[str, Any]:
    """The object in a JSON file; anything else is an :class:`InputError`."""
    try:
        data = json.loads(read_text(path, remedy))
    except json.JSONDecodeError as error:
        raise InputError(f"{path} is not valid JSON (line {error.lineno}: {error.msg}): correct it.") from None
    except ValueError:
        raise InputError(f"{path} {TOO_LONG}: correct it.") from None
    except RecursionError:
        raise InputError(f"{path} {TOO_DEEP}: correct it.") from None
    return _mapping(path, data)


def read_yaml(path: Path | str, remedy: str = CORRECT) -> dict[str, Any]:
    """The mapping in a YAML file; anything else, or a key that is there twice, is an :class:`InputError`."""
    loader = LOADER(read_text(path, remedy))
    try:
        node = loader.get_single_node()
        _check_keys(path, node, set())
        data = None if node is None else loader.construct_document(node)
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not valid YAML: {' '.join(str(error).split())}.") from None
    except ValueError:  # of a number or a date; PyYAML does not say where
        raise InputError(f"{path} {TOO_LONG}, or a date that there is not: correct it.") from None
    finally:
        loader.dispose()
    return _mapping(path, data)


def _check_keys(path: Path | str, node: yaml.Node | None, seen: set[int]) -> None:
    """Refuse a mapping of a YAML document with a key twice, of which a loader would take the last silently."""
    if isinstance(node, yaml.ScalarNode | None) or id(node) in seen:
        return
    seen.add(id(node))  # an alias stands for the same node
    if isinstance(node, yaml.MappingNode):
        keys: dict[str, int] = {}
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                line = key.start_mark.line + 1
                if key.value in keys:
                    raise InputError(f"{path} has {key.value} twice (lines {keys[key.value]} and {line}): remove one.")
                keys[key.value] = line
            _check_keys(path, value, seen)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            _check_keys(path, value, seen)


def _mapping(path: Path | str, data: object) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise InputError(f"{path} holds no mapping of keys to values at its top level: correct it.")
    return data


def check_writable(folder: Path | str) -> None:
    """Raise :class:`InputError` where ``folder``, or what it would be made in, lets nobody like us write."""
    there = next(path for path in (Path(folder), *Path(folder).absolute().parents) if path.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"{there} may not be written to: change its permissions, or run in a folder by --directory.")


def write_json(path: Path, data: dict[str, Any], indent: int | None = 1, recipe: bool = True) -> None:
    """Write ``data`` as JSON, in its order, atomically; before it the ``recipe`` of the run, if the format allows."""
    if recipe and tables.running():
        data = {"recipe": tables.running()} | data
    with tables.replacing(path) as temporary:
        temporary.write_text(json.dumps(data, ensure_ascii=False, indent=indent) + "\n", encoding="utf-8")
