"""Programs of CLEVR's question files run on scenes, and their answers held beside those of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from compvqa import tables
from compvqa.clevr.executor import answer
from compvqa.clevr.official import Refused, parse
from compvqa.clevr.scene import Scene, read_scenes
from compvqa.errors import InputError
from compvqa.progress import track
from compvqa.scenes.ingest import SourceSettings, ingest
from compvqa.scenes.stream import elements_of
from compvqa.scenes.tables import REJECTS

AGREES, DIFFERS, NEW, ILL_POSED = "agree", "differ", "without an answer in the file", "ill-posed"
NO_SCENE, NO_PROGRAM, MALFORMED = "without a scene", "without a program", "malformed"
FAULTS = (DIFFERS, ILL_POSED, MALFORMED)


@dataclass(frozen=True)
class Answered:
    """What became of one question; ``number`` is its place in the file, from 0."""

    number: int
    outcome: str
    text: str = ""
    told: str | None = None  # the file's answer
    found: str | None = None  # the program's
    why: str = ""


def scenes_of(path: Path, tell: Callable[[str], None] = lambda what: None) -> dict[str, Scene]:
    """The scenes of a folder of scene tables, or of a file of CLEVR's scenes, by their names without the source's.

    ``tell`` gets a sentence for each record of the file that is malformed, with its scene and the reason.
    """
    if path.is_dir():
        return {scene.scene_id.partition(":")[2] or scene.scene_id: scene for scene in read_scenes(path)}
    with TemporaryDirectory() as name:
        folder = Path(name)
        ingest(SourceSettings(name="clevr", reader="clevr", files={"train": path}, most_rejected=1), None, folder)
        for row in tables.read(folder / f"{REJECTS.name}.parquet", REJECTS).to_pylist():
            tell(f"{row['scene_id'].partition(':')[2]} ({row['record']}): {row['reason']}")
        return scenes_of(folder)


def verify(questions: Path, scenes: Mapping[str, Scene]) -> Iterator[Answered]:
    """Run the program of each question of a file; InputError where the file is no JSON with questions."""
    for number, record in enumerate(track(elements_of(questions, "questions"), "executing", unit="question")):
        try:
            found = parse(record)
        except Refused as why:
            yield Answered(number, MALFORMED, why=f"{why.reason}: {why.detail}" if why.detail else why.reason)
            continue
        if found.program is None:
            yield Answered(number, NO_PROGRAM, found.text, found.answer)
        elif found.image not in scenes:
            yield Answered(number, NO_SCENE, found.text, found.answer)
        else:
            yield _answered(number, found.text, found.answer, found.program, scenes[found.image])


def _answered(number: int, text: str, told: str | None, program: list, scene: Scene) -> Answered:
    try:
        found = answer(program, scene)
    except InputError as fault:  # a relation that the scene has not
        return Answered(number, MALFORMED, text, told, why=str(fault))
    if found is None:
        return Answered(number, ILL_POSED, text, told)
    outcome = NEW if told is None else AGREES if told == found else DIFFERS
    return Answered(number, outcome, text, told, found)


def counted(answered: Iterator[Answered], examples: int = 5) -> tuple[Counter[str], list[Answered]]:
    """How many questions had each outcome, and the first few that are at fault."""
    counts: Counter[str] = Counter()
    shown: list[Answered] = []
    for item in answered:
        counts[item.outcome] += 1
        if item.outcome in FAULTS and len(shown) < examples:
            shown.append(item)
    return counts, shown
