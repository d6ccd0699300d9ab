"""Archives of fine-tuned models, ``model.tar.gz``, as AllenNLP writes them and COVR's authors released one.

They hold ``config.json``, ``weights.th`` (a state as torch saves it), ``vocabulary/labels.txt``, the answers in the
order of their classes, and may hold ``metrics.json``. A stranger's archive runs no code here and leaves no file behind.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import torch

from compvqa.errors import InputError
from compvqa.scenes.contents import Refused
from compvqa.scenes.unpack import unpack
from compvqa.scratch import scratch_folder
from compvqa.weights import load_saved

ENDING = ".tar.gz"  # of the archives' names
TIMES = 4  # its own size an archive may unpack to: weights are hardly packed
LABELS, NEWLINE = "labels", "@@NEWLINE@@"  # the answers' name in the vocabulary, and a line's end within one


@dataclass(frozen=True)
class Archive:
    """What is in an archive: the section ``model`` of its config, its tensors by name, and its answers by class."""

    path: str
    model: Mapping[str, Any]
    state: Mapping[str, torch.Tensor]
    labels: list[str]
    accuracy: float | None  # of its metrics, where it has any

    @classmethod
    def read(cls, path: str) -> Archive:
        """The archive ``path``; InputError where it leaves its folder, is too large, or lacks a file."""
        with scratch_folder(tempfile.gettempdir(), "allennlp") as folder:
            try:
                unpack(Path(path), folder, "tar", times=TIMES)
            except Refused as refused:
                raise InputError(f"{refused}: {refused.advice or 'take the archive that was released'}.") from None
            model = _object(folder, path, "config.json").get("model")
            if not isinstance(model, dict):
                raise InputError(f"{path}: its config.json has no section model: take the archive that was released.")
            state = load_saved(_file(folder, path, "weights.th"), path)
            has_metrics = (folder / "metrics.json").is_file()
            metrics = _object(folder, path, "metrics.json") if has_metrics else {}
            return cls(path, model, state, _labels(folder, path), _accuracy(metrics))


def _file(folder: Path, path: str, name: str) -> Path:
    """A file of the archive ``path``, which is unpacked in ``folder``."""
    if not (folder / name).is_file():
        raise InputError(f"{path} lacks {name}: take the archive that AllenNLP wrote when the training ended.")
    return folder / name


def _object(folder: Path, path: str, name: str) -> dict[str, Any]:
    try:
        found = json.loads(_file(folder, path, name).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{path}: its {name} is no JSON object: take the archive that was released.")
    return found


def _labels(folder: Path, path: str) -> list[str]:
    """The answers by the number of their class."""
    try:
        lines, loose = (
            _file(folder, path, f"vocabulary/{name}.txt").read_text(encoding="utf-8").splitlines()
            for name in (LABELS, "non_padded_namespaces")
        )
    except UnicodeDecodeError:
        raise InputError(f"{path}: its vocabulary is not UTF-8 text: take the archive that was released.") from None
    if not any(fnmatchcase(LABELS, pattern) for pattern in loose):
        raise InputError(f"{path} pads its {LABELS}, so that its first class is no answer: no such model is read here.")
    return [line.rstrip().replace(NEWLINE, "\n") for line in lines]


def _accuracy(metrics: Mapping[str, Any]) -> float | None:
    found = next((metrics[key] for key in ("accuracy", "best_validation_accuracy") if key in metrics), None)
    return float(found) if isinstance(found, int | float) else None
