"""What lmms-eval runs of an exported task: copied beside its YAML as ``utils.py``, with ``parsing.py``.

It imports nothing of this package, so that it runs in an environment of lmms-eval's own.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@cache
def parser() -> Any:
    """What reads replies, for the answers that there are."""
    spec = importlib.util.spec_from_file_location("compvqa_parsing", FOLDER / "parsing.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"{FOLDER / 'parsing.py'} cannot be imported: export the tasks anew.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.Parser(told()["answers"], told()["synonyms"])


@cache
def told() -> dict[str, Any]:
    """The answers that there are, other words for them, and what an answer stands behind."""
    found: dict[str, Any] = json.loads((FOLDER / "told.json").read_text(encoding="utf-8"))
    return found


def shown(doc: dict[str, Any]) -> list[Any]:
    """The pictures of a question, in their order."""
    return [picture.convert("RGB") for picture in doc["pictures"]]


def asked(doc: dict[str, Any], lmms_eval_specific_kwargs: dict[str, Any] | None = None) -> str:
    """What is said beside them."""
    return str(doc["prompt"])


def scored(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Whether the reply gives the right answer."""
    found = parser().parse(results[0], doc["text"], told()["cue"])
    return {"accuracy": float(found.answer.strip().lower() == doc["answer"].strip().lower())}
