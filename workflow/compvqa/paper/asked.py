"""Which of the scored models are vision-language models that were asked, and how many shots each has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from compvqa.files import read_yaml
from compvqa.paper.data import Inputs, many

NONE_ASKED = "No vision-language model was asked: name one in models.asked."


@dataclass(frozen=True)
class Model:
    """A model of a file of ``config/models``; ``shots`` is None where it was trained."""

    name: str
    shots: int | None

    @property
    def told(self) -> str:
        """What its answers come from, in a word or two."""
        if self.shots is None:
            return "trained"
        return f"{self.shots or 'no'} shot{'s' * (self.shots != 1)}"


def models_of(inputs: Inputs, scored: Iterable[str]) -> list[Model]:
    """Those of the ``scored`` models that have a file: first those asked, the fewest shots first, then those trained.

    Baselines have no file, and are left out.
    """
    files: dict[str, Path] = {}
    for folder in many(inputs, "models"):
        files = {path.stem: path for path in folder.glob("*.yaml")} | files
    found = []
    for name in sorted({*scored} & {*files}):
        data = read_yaml(files[name])
        found.append(Model(name, data.get("shots", 0) if "inspect" in data else None))
    return sorted(found, key=lambda model: (model.shots is None, model.shots or 0, model.name))
