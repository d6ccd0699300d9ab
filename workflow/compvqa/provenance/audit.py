"""The audit of a split: where it came from, what was counted and dropped, and what proves that nothing leaked; of any
other output the first two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from compvqa.asking.guard import check_shots
from compvqa.errors import InputError
from compvqa.programs import wings
from compvqa.provenance import stories
from compvqa.provenance.folds import scored
from compvqa.provenance.history import History, Record, run_folder
from compvqa.provenance.manifest import MANIFEST, read_manifest
from compvqa.provenance.steps import Step, steps
from compvqa.questions.dataset import language_of
from compvqa.scenes.pins import LOCK
from compvqa.seeds import by_rank
from compvqa.splits.held import DRAWN
from compvqa.splits.setups import SplitSettings, find_setup
from compvqa.splits.splitters import guard, parts_of

# What a download's bytes were compared with: a checksum in the list of sources, or what the first fetch gave
PINNED, TRUSTED = "pinned", "trusted on first use"


class StoryModule(Protocol):
    """The module ``story`` of a language."""

    @property
    def Tables(self) -> type[stories.Tables]: ...

    def stories(
        self, sources: stories.Tables, question_ids: Iterable[str], splits: Iterable[Path] = ()
    ) -> list[dict[str, Any]]: ...


@dataclass(frozen=True)
class Target:
    """What is audited: files of one run, by paths relative to its folder, and all records behind them."""

    history: History
    files: tuple[str, ...]
    records: tuple[Record, ...]

    @staticmethod
    def of(path: Path) -> Target:
        """A file that a stage made, or a folder: of a test-bed's folder, everything in it."""
        if not path.exists():
            raise InputError(f"{path} does not exist: give a split's table, another output, or a test-bed's folder.")
        if path.is_file():
            root = run_folder(path)
            files: tuple[str, ...] = (path.resolve().relative_to(root).as_posix(),)
        else:
            files_ = sorted(p for p in path.rglob("*.parquet") if p.with_name(p.name + ".prov.json").is_file())
            if not files_:
                raise InputError(f"{path} holds no record of a run: give a folder of results.")
            root = run_folder(files_[0])
            below = History(root).below(path.resolve().relative_to(root).as_posix())
            files = tuple(sorted(output for record in below for output in record.outputs))
        return Target.behind(History(root), files)

    @staticmethod
    def behind(history: History, files: Sequence[str]) -> Target:
        """These files of a run, with all records behind them."""
        return Target(history, tuple(files), tuple(history.behind(files)))

    def made_with(self, recipe: str) -> Target | None:
        """Of what is here or behind it, the files that were made with a recipe; None if there are none."""
        made = [output for record in self.records if record.recipe == recipe for output in record.outputs]
        return Target.behind(self.history, made) if made else None

    @property
    def maker(self) -> Record | None:
        """The record of the first file."""
        return self.history.maker(self.files[0])


def audit(split: Path, examples: int, seed: int) -> dict:
    """The audit of a split's table as data, every part of it told by a key.

    ``split`` (its name, table, definition, settings, seed, recipe, sizes of its parts), ``steps`` (:class:`Step`, each
    after those that it read from), ``raw`` (raw files with sha256; downloads with URL, licence and whether they are
    pinned or were trusted on first use), ``guard`` (what the leak guard compared, run again now), ``folds``
    (:func:`compvqa.provenance.folds.scored`), ``examples`` (stories of random questions, drawn with ``seed``).
    Raises :class:`InputError` if the split leaks or no record tells of it.
    """
    target = Target.of(split)
    history, (path,), record = target.history, target.files, target.maker
    if record is None or record.stage != "split":
        raise InputError(
            f"{split} was made by {record.stage if record else 'no stage'}, not by split: give a split's table."
        )
    found = steps(history, target.records)
    parts = parts_of(split)
    drawn = by_rank(seed, "audit", sorted({question for ids in parts.values() for question in ids}))[:examples]
    return {
        "split": {
            "name": record.data["settings"]["definition"]["name"],
            "table": path,
            "recipe": record.recipe,
            "code": record.data["code"],
            "seed": record.data["seed"],
            "definition": record.data["settings"]["definition"],
            "settings": record.data["settings"]["settings"],
            "drawn": [key.removeprefix(DRAWN) for key in record.data["counts"] if key.startswith(DRAWN)],
            "parts": {part: len(ids) for part, ids in sorted(parts.items())},
        },
        "steps": [step.data() for step in found],
        "raw": raw_files(found),
        "guard": _guard(history, record),
        "folds": scored(history, target.records),
        "examples": _stories(target, _dataset(history, record), drawn, [split]),
    }


def way(target: Target) -> dict:
    """The way to outputs of one recipe: their ``files`` and ``recipe``; ``steps`` and ``raw`` as of :func:`audit`."""
    record = target.maker
    if record is None:
        raise InputError(f"no record tells how {target.files[0]} was made: give a file that compvqa made.")
    found = steps(target.history, target.records)
    told = {"files": list(target.files), "recipe": record.recipe}
    return told | {"steps": [step.data() for step in found], "raw": raw_files(found)}


def raw_files(found: Sequence[Step]) -> list[dict]:
    """The files at the start of the chain: downloaded, drawn by the workflow, or given; and what is known of each."""
    rows = []
    for step in found:
        for path, digest in sorted(step.given.items()):
            rows.append({"file": path, "sha256": digest, "from": "given", "read by": step.stage})
        if not step.after and not step.given:
            settings = step.records[0].data["settings"] or {}
            told = {key: settings[key] for key in ("url", "version", "licence") if key in settings}
            if "url" in told:
                told["trust"] = TRUSTED if settings.get("sha256") == LOCK else PINNED
            for record in step.records:
                for path, digest in sorted(record.outputs.items()):
                    rows.append({"file": path, "sha256": digest, "from": step.stage, **told})
    return rows


def _guard(history: History, record: Record) -> dict[str, int]:
    """The leak guard, run again on the files as they are now, and that of the shots of models that were asked."""
    by_name = {Path(path).name: history.root / path for path in record.inputs}
    settings = record.data["settings"]
    made = history.root / next(path for path in record.outputs if path.endswith(".parquet"))
    told = guard(
        made,
        by_name["questions.parquet"],
        settings["definition"],
        by_name.get("lexicon.json"),
        SplitSettings.model_validate(settings["settings"]),
        record.data["seed"],
        by_name["scenes.parquet"],
    )
    setup = find_setup(settings["definition"]["setup"])
    asked = sorted(made.parent.parent.glob(f"asked/*.{settings['definition']['name']}.*.replies.parquet"))
    shots = {
        path.name.removesuffix(".replies.parquet"): check_shots(
            path, setup, made, by_name["questions.parquet"], by_name["scenes.parquet"]
        )
        for path in asked
    }
    return told | {f"shots of {run}, no image of their questions'": number for run, number in shots.items() if number}


def example(question_id: str, dataset: Path) -> dict:
    """One question's whole story; ``dataset`` is its table of questions, beside whose folder the splits lie."""
    target = Target.of(dataset)
    (found,) = _stories(target, dataset, [question_id], splits_in(dataset.parent.parent))
    return found | {"steps": [step.data() for step in steps(target.history, target.records)]}


def splits_in(folder: Path) -> list[Path]:
    """The tables of splits in the folder of a test-bed, without those that an earlier config left there, as far as its
    manifest says which the config has."""
    found, manifest = sorted(folder.joinpath("splits").glob("*.parquet")), folder / MANIFEST
    named = (
        read_manifest(manifest).data.get("config", {}).get("splits", {}).get("names") if manifest.is_file() else None
    )
    return [path for path in found if named is None or path.name.partition(".")[0] in named]


def _stories(target: Target, dataset: Path, question_ids: Sequence[str], splits: Sequence[Path]) -> list[dict]:
    """The stories of questions of a dataset, as its language tells them."""
    story: StoryModule = wings.part(language_of(dataset), "story")
    return story.stories(story.Tables.behind(target.history, target.records), question_ids, splits)


def _dataset(history: History, record: Record) -> Path:
    """The table of questions that a split was made from."""
    return next(history.root / path for path in record.inputs if Path(path).name == "questions.parquet")
