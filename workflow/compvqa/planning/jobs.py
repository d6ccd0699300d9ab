"""A job as a plan sees it, and what its work grows with.

Cost is scaled by what a job has to go through. For most that is the size of its inputs; for a training that the
config ends after so many steps it is the number of examples it sees; for a job without inputs, the number of scenes
that it draws.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from compvqa.training.settings import OptimisationSettings

MB = 1e6
# Jobs look things up in these files, so their size says little of the work: a table says what is looked up. They are
# features, weights, and the lists of a checkpoint's files.
LOOKED_UP = re.compile(r"\.(safetensors|bin)$|@[^/]*\.json$")
# What a drawn picture costs by
LOOK = ("width", "height", "light_samples", "mirrored", "renderer")
MODEL_SIZE = re.compile(r"hidden|layers|heads|pixels|intermediate|size")


@dataclass(frozen=True)
class Job:
    """A job of a run: ``name`` tells it apart, ``outputs`` are (name in the rule, path) and ``temporary`` paths among
    them, ``settings`` is its part of the config, ``shard`` its own and the number of shards where it works on one.

    ``cause`` says in words why it runs by itself, None where it runs only since jobs named ``after`` run.
    """

    name: str
    rule: str
    stage: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    temporary: frozenset[str] = frozenset()
    runs: bool = True
    cause: str | None = None
    after: tuple[str, ...] = ()
    settings: Mapping | None = None
    shard: str | None = None
    gpus: int = 0


@dataclass(frozen=True)
class Load:
    """What a job goes through: ``mb`` of inputs (its share of those that all shards read), and ``work`` in ``unit``."""

    mb: float
    work: float
    unit: str


def load_of(job: Job, sizes: Mapping[str, float]) -> Load:
    """The load of a job whose inputs have these ``sizes`` in bytes. Raises KeyError for one that is gone through and
    not there."""
    mb = sum(sizes[path] * _share(job.shard, path) for path in gone_through(job)) / MB
    if not job.inputs:
        return Load(0.0, _scenes(job.settings or {}) * _share(job.shard, ""), "scenes")
    phases = list(_trainings(job.settings or {}))
    if not phases:
        return Load(mb, mb, "MB")
    default = OptimisationSettings().batch_size
    steps = [(phase.get("most_steps") or phase.get("steps") or 0, phase.get("batch_size", default)) for phase in phases]
    if all(number for number, _ in steps):
        return Load(mb, float(sum(number * batch for number, batch in steps)), "examples")
    passes = sum(float(phase.get("epochs", 1)) for phase in phases)
    return Load(mb, mb * passes, "MB x epochs")


def gone_through(job: Job) -> list[str]:
    """The inputs whose size tells of a job's work."""
    return [path for path in job.inputs if not LOOKED_UP.search(path)]


def models_of(jobs: Sequence[Job]) -> list[str]:
    """The model of each of these jobs, by its size, as its part of the config says, or whose weights it reads; of one
    that draws CLEVR's pictures, their size; of one that describes pictures or regions, the network that does.

    Each job comes after those whose outputs it reads; empty for a job without any of these.
    """
    weights: dict[str, str] = {}
    models = []
    for job in jobs:
        model = _model(job.settings or {}) or next((weights[path] for path in job.inputs if weights.get(path)), "")
        weights |= {path: model for _, path in job.outputs if path.endswith(".safetensors")}
        models.append(model)
    return models


def _model(settings: Mapping) -> str:
    if "model" in settings:
        model = settings["model"]
        if isinstance(model, Mapping):  # that is asked
            return " ".join(f"{key}={value}" for key, value in sorted(model.items()))
        return _words(str(model), settings.get("settings", {}))
    if settings.get("describe") == "network":  # each of a picture's regions
        return f"{settings['network']['backbone']} side={settings['network'].get('side')} of crops"
    if "backbone" in settings:  # of whole pictures, squashed to a square
        return f"{settings['backbone']} side={settings.get('side')} stride={settings.get('stride')}"
    if look := next(_looks(settings), None):
        return " ".join(["pictures", *(f"{key}={look[key]}" for key in LOOK if key in look)])
    encoder = settings.get("encoder", {})
    return _words(str(encoder["checkpoint"]), encoder.get("changes", {})) if "checkpoint" in encoder else ""


def _looks(settings: object) -> Iterator[Mapping]:
    """All parts of the settings that say how large pictures are drawn, and how finely."""
    if isinstance(settings, Mapping):
        if settings.keys() >= {"width", "height", "light_samples"}:
            yield settings
        for part in settings.values():
            yield from _looks(part)


def _words(name: str, settings: Mapping) -> str:
    size = [f"{key}={value}" for key, value in sorted(settings.items()) if MODEL_SIZE.search(key)]
    return " ".join([str(settings.get("checkpoint", name)), *size])


def _share(shard: str | None, path: str) -> float:
    """The part of a file that falls to a job: all of its own shard's, or a shard's part of what all shards read."""
    if shard is None or PurePath(path).stem.startswith(shard):
        return 1.0
    return 1 / int(shard.split("-of-")[1])


def _trainings(settings: object) -> Iterator[Mapping]:
    """All parts of the settings that say how long something is trained."""
    if not isinstance(settings, Mapping):
        return
    if settings.keys() & {"most_steps", "steps", "epochs"}:
        yield settings
    for part in settings.values():
        yield from _trainings(part)


def _scenes(settings: Mapping[str, object]) -> int:
    told = (value for key, value in settings.items() if key == "scenes" or key.endswith("_scenes"))
    return sum(value for value in told if isinstance(value, int))
