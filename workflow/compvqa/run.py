"""The frame around every stage's run: checks its code and settings, sets its recipe, writes its record."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from compvqa import facts, tables
from compvqa.errors import InputError
from compvqa.files import TOO_LONG, read_yaml
from compvqa.records import record
from compvqa.records.digest import code_digest
from compvqa.records.intact import check_intact
from compvqa.scratch import clear_temporaries

S = TypeVar("S", bound=BaseModel)


def parse_settings(model: type[S], text: str | None, section: str = "") -> S:
    """The settings in ``text``: JSON, or the path of a YAML file, or None for the defaults.

    Raises :class:`InputError` naming the key that is wrong.
    """
    data: object
    if text is None:
        data = {}
    elif text.lstrip().startswith("{"):
        data = _parsed(text, section)
    else:
        data = read_yaml(text, "give the path of a YAML file")
    return validate(model, data, section)


def _parsed(text: str, section: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"the settings of {section} are not valid JSON ({error}): correct --config.") from None
    except ValueError:
        raise InputError(f"the config of {section} {TOO_LONG}: correct it.") from None


def validate(model: type[S], data: object, section: str = "") -> S:
    """``data`` as settings of ``model``; the first thing wrong with it becomes an :class:`InputError`."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in (*([section] if section else []), *first["loc"])) or "the config"
        if where == "the config" and first["type"] == "value_error":  # of several keys, which it names
            raise InputError(f"the config is wrong: {first['ctx']['error']}.") from None
        if first["type"] == "extra_forbidden":
            known = ", ".join(sorted(_known(model, first["loc"][:-1])))
            raise InputError(f"config key {where} is unknown: correct or remove it (known here: {known}).") from None
        if first["type"] == "missing":
            raise InputError(f"config key {where} is missing: add it.") from None
        got = repr(first.get("input"))
        got = got if len(got) < 80 else got[:77] + "…"
        raise InputError(f"config key {where} has the wrong value {got}: {first['msg']}.") from None


def _known(model: type[BaseModel], where: Iterable[int | str]) -> Iterable[str]:
    """The keys of a section inside ``model``; of the last section there where the way goes on through others."""
    for key in where:
        field = model.model_fields.get(str(key))
        if field is None or not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)):
            break
        model = field.annotation
    return model.model_fields


def _check_apart(inputs: Iterable[Path], outputs: Iterable[Path]) -> None:
    """Refuse to write over what is read."""
    read = {os.path.abspath(path) for path in inputs}
    for path in outputs:
        if os.path.abspath(path) in read:
            raise InputError(f"{path} is read, and would be written over: name another file to write.")


def run_stage(
    stage: str,
    modules: Iterable[str],
    work: Callable[[], dict[str, int]],
    *,
    outputs: Iterable[Path],
    inputs: Iterable[Path] = (),
    settings: BaseModel | dict[str, Any] | None = None,
    seed: int | None = None,
    code: str | None = None,
    note: Path | None = None,
) -> dict[str, int]:
    """Run ``work`` as ``stage`` and write the record beside its first output, if there is any.

    ``modules`` are those whose digest is the stage's code; with ``code`` given (by the workflow), a source
    that has changed since is refused. ``note`` is the record's path where it is not
    ``<first output>.prov.json``.
    """
    modules = list(modules)
    digest = code_digest(*modules)
    if code is not None and code != digest:
        raise InputError(f"the code of {stage} changed while the workflow ran: start the workflow again.")
    outputs = list(outputs)
    inputs = list(inputs)
    for needed in inputs:
        if not needed.exists():
            raise InputError(f"{needed} does not exist: run the stage that makes it, or correct the path.")
    _check_apart(inputs, [*outputs, *([note] if note else [])])
    check_intact(inputs)
    data = settings.model_dump(mode="json") if isinstance(settings, BaseModel) else settings
    recipe = record.recipe_id(stage, digest, data, seed, record.files_of(inputs))
    started = datetime.now(UTC)
    path = (note or outputs[0].with_name(outputs[0].name + ".prov.json")) if outputs else None
    clear_temporaries([*outputs, path] if path else [])
    with tables.recipe(recipe), facts.gathered() as told:
        counts = work()
    if path is None:
        return counts
    record.write(
        path,
        stage=stage,
        recipe=recipe,
        code=digest,
        modules=modules,
        settings=data,
        seed=seed,
        inputs=inputs,
        outputs=outputs,
        counts=counts,
        facts=told,
        started=started,
    )
    return counts
