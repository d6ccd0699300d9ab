"""The card of a dataset folder: README.md with the YAML that the Hugging Face hub and ``datasets`` read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from compvqa.publish.description import Description
from compvqa.publish.pictures import FETCHED, IMAGES, MEANING, SPLIT
from compvqa.tables import replacing, running

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~&!$^=])")  # what Markdown may take for more than a letter inside a line


def write_card(described: Description, path: Path) -> None:
    """Write the card to ``path``: the same description gives the same bytes."""
    folder = Path(__file__).parent / "templates"
    environment = Environment(
        loader=FileSystemLoader(folder), trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined,
        keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {"text": as_text, "block": as_block}
    page = environment.get_template("card.md.j2").render(
        d=described,
        own=running(),
        pictures={"name": IMAGES, "split": SPLIT, "meaning": MEANING, "script": FETCHED[1]},
        front=front_matter(described),
        example=_json(described.example),
    )
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def front_matter(described: Description) -> str:
    """The YAML at the head of the card.

    A configuration is a split, its parts are the hub's "splits". A part without questions is left out: ``datasets`` can
    not read a file without rows. Pictures that are there once, or can be fetched, are a configuration of their own.
    """
    data: dict[str, Any] = {
        "pretty_name": described.name,
        "license": described.licence.tag or "other",
        **({} if described.licence.tag not in ("", "other") else {"license_name": described.licence.text}),
        "language": ["en"],
        "task_categories": ["visual-question-answering"],
        "size_categories": [_size(described.questions)],
        "tags": ["compositional-generalization", "multi-image", "scene-graphs", "croissant"],
        "configs": [],
    }
    filled = [split for split in described.splits if split.filled()]
    default = next((split.name for split in filled if split.definition.held_out() is None), None)
    for split in filled:
        files = [{"split": part.name, "path": part.path} for part in split.filled()]
        main = {"default": True} if split.name == default else {}
        data["configs"].append({"config_name": split.name, **main, "data_files": files})
    if described.pictures or described.fetched:
        files = [{"split": SPLIT, "path": f"{IMAGES}/*.parquet"}]
        data["configs"].append({"config_name": IMAGES, "data_files": files})
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1 << 20)


def _size(questions: int) -> str:
    return next((name for bound, name in _SIZES if questions < bound), "1M<n<10M")


def _json(row: Mapping[str, object]) -> str:
    return json.dumps(row, ensure_ascii=False, indent=1)


def as_text(value: object) -> str:
    """``value`` as one line of Markdown that shows it as it is, also inside a table."""
    return _MARKS.sub(r"\\\1", " ".join(str(value).split()))


def as_block(text: str, language: str = "") -> str:
    """``text`` as a block of code; its fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
