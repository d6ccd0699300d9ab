"""Questions of anybody's generator about a drawn world, told true, wrong or ambiguous by the world's complete truth.

A question comes as a program of COVR's language with its answer, or as a claim (:mod:`compvqa.covr.judging.claimed`).
The causes are those of :mod:`compvqa.covr.judging.validity`, and three more:

* ``not by the annotations``: they do not give the answer either, so they are not to blame;
* why the program has no answer at all: it is *wrong* where it speaks of something that is not there;
* and *ambiguous* where there are several: ``not unique``, ``both choices hold``, ``two values in one group``. So is one
  with ``overlapping names``, whose answer is right if names are taken narrowly, and wrong if they stand for all that
  may be called so; and one that asks for one image where others are as right (``not unique``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from compvqa import tables
from compvqa.covr.executor import ProgramError, answer_text, execute
from compvqa.covr.filters.floors import share_of
from compvqa.covr.judging.claimed import Asked, NoClaim, Ranked, claims
from compvqa.covr.judging.validity import VALIDITY, Judge
from compvqa.covr.language import ATTRIBUTE, LANGUAGE, MODIFIER, NOUN, NUMBER, OPERATORS, RELATION, TRUTH
from compvqa.errors import InputError
from compvqa.given import read_given
from compvqa.programs.rows import Program, from_json, is_program
from compvqa.scenes.graph import SceneStore
from compvqa.scenes.lexicon import Lexicon
from compvqa.scenes.tables import MODIFIERS, RELATIONS, SCENES
from compvqa.sheets import as_text
from compvqa.tables import Schema

TRUE, WRONG, AMBIGUOUS = "true", "wrong", "ambiguous"
VERDICTS = (TRUE, WRONG, AMBIGUOUS)
NARROW, GENERATOR = "overlapping names", "not by the annotations"
SEVERAL = ("not unique", "both choices hold", "two values in one group")
COLUMNS, OPTIONAL = ("text", "images"), ("answer", "question_id", "template", "program", "claim")
NESTED = ("images", "program", "claim")
JUDGED = Schema(
    "judged_outside",
    pa.schema([*VALIDITY.fields, *((name, pa.string()) for name in ("verdict", "text", "answer", "images"))]),
    key=("question_id",),
)
_SAID = {"yes": "true", "no": "false"}
_NO_ANSWER = "no answer: "


@dataclass(frozen=True)
class World:
    """A drawn world: its truth, its scenes as annotated, by either of their names, and all names that it knows."""

    judge: Judge
    annotated: SceneStore
    scene_of: Mapping[str, str]
    names: Mapping[str, frozenset[str]]

    @cached_property
    def called(self) -> dict[str, str]:
        """All names, by themselves without case."""
        return {name.casefold(): name for name in sorted(frozenset().union(*self.names.values()))}

    @staticmethod
    def load(scenes: Path, truth: Path, lexicon: Path) -> World:
        """The world of scene tables, a folder with complete/ and missing_only/, and a lexicon."""
        known = tables.read(scenes / "scenes.parquet", SCENES, ["scene_id", "image"])
        ids, images = known["scene_id"].to_pylist(), known["image"].to_pylist()
        scene_of = dict(reversed([*zip(images, ids, strict=True)])) | {scene_id: scene_id for scene_id in ids}
        said = Lexicon.load(lexicon).data
        names = {kind: _names(truth / "complete", table) | set(getattr(said, of)) for kind, of, table in _NAMED}
        names[RELATION] |= _modified(truth / "complete")
        return World(
            Judge.load(scenes, truth, lexicon),
            SceneStore(scenes),
            scene_of,
            {k: frozenset(v) for k, v in names.items()},
        )


# The kinds of names, where the lexicon has them, and the table
_NAMED = (
    (NOUN, "nouns", "objects"),
    (ATTRIBUTE, "attributes", "attributes"),
    (RELATION, "relations", "relations"),
)


def _names(folder: Path, table: str) -> set[str]:
    return set(tables.read(folder / f"{table}.parquet", columns=["name"])["name"].to_pylist())


def _modified(folder: Path) -> set[str]:
    """The relations to what modifiers lead to, as programs name them ("cutting with")."""
    rows = {
        schema: tables.read(folder / f"{schema.name}.parquet", schema, ["scene_id", "relation_id", "name"]).to_pylist()
        for schema in (RELATIONS, MODIFIERS)
    }
    relations = {(row["scene_id"], row["relation_id"]): row["name"] for row in rows[RELATIONS]}
    return {f"{relations[row['scene_id'], row['relation_id']]} {row['name']}" for row in rows[MODIFIERS]}


def judge_file(file: Path, world: World) -> list[dict]:
    """A row of JUDGED for each question of the file; InputError names the line of one that cannot be judged."""
    found: dict[str, dict] = {}
    for number, (where, values) in enumerate(read_given(file, COLUMNS, OPTIONAL, NESTED), 1):
        text, images, answer, question_id, template, program, claim = values
        name = question_id or f"{number:08d}"
        if name in found:
            raise InputError(f"{where}: question_id {name} came before: give each question one of its own.")
        if not text:
            raise InputError(f"{where}: there is no text; give the question.")
        scene_ids = _scenes(where, images, world)
        verdict, cause, truth = _verdict(
            [_told(asked, world) for asked in _asked(where, program, claim, answer, scene_ids, world)]
        )
        found[name] = {
            "question_id": name, "template": template, "part": "", "start_scene": scene_ids[0],
            "valid": verdict == TRUE, "cause": cause, "truth_answer": truth,
            "verdict": verdict, "text": text, "answer": answer, "images": " ".join(scene_ids),
        }  # fmt: skip
    if not found:
        raise InputError(f"{file} has no questions: give a line for each.")
    return [found[name] for name in sorted(found)]


def save(judged: Sequence[dict], out: Path) -> None:
    """Write the rows as Parquet or, if ``out`` ends so, as CSV."""
    if out.suffix == ".csv":
        with tables.replacing(out) as temporary:
            cells = [{k: as_text(v) if isinstance(v, str) else v for k, v in row.items()} for row in judged]
            csv.write_csv(JUDGED.from_rows(cells), temporary)
    else:
        tables.write(out, JUDGED, judged)


def _scenes(where: str, images: str, world: World) -> list[str]:
    """The scenes of images that are named in a JSON list, or with blanks between them."""
    named = _json(where, images, "images") if images.startswith("[") else images.split()
    if not named or not all(isinstance(name, str) for name in named):
        raise InputError(f"{where}: images are {images!r}; name them in a list, or with blanks between them.")
    for name in named:
        if name not in world.scene_of:
            raise InputError(
                f"{where}: the test-bed has no image or scene {name!r}; name them as its scenes/scenes.parquet does, "
                f"such as {min(world.scene_of)}."
            )
    found = [world.scene_of[name] for name in named]
    if twice := [name for place, name in enumerate(named) if found.index(found[place]) < place]:
        raise InputError(f"{where}: the image {twice[0]!r} is there twice; name each once.")
    return found


def _json(where: str, text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"{where}: the {what} {text!r} is no JSON; correct it.") from None


def _asked(
    where: str, program: str, claim: str, answer: str, scene_ids: list[str], world: World
) -> Iterator[Asked | Ranked]:
    """What has to hold for a question's answer to be right."""
    if bool(program) == bool(claim):
        raise InputError(f"{where}: give a program or a claim, and not both.")
    given = _json(where, claim, "claim") if claim else _json(where, program, "program")
    try:
        found = claims(given, scene_ids) if claim else [Asked(from_json(program), answer, scene_ids)]
    except (ValueError, TypeError, KeyError) as fault:
        what = f"{program!r} is no program: give rows of operator, arguments, rows used"
        if claim:
            why = f" ({fault})" if isinstance(fault, NoClaim) else ""
            what = (
                f"the claim {claim} is none{why}: give a subgraph's tree and one of in, count, only, but, most and "
                "least (places of images are counted from 1), a program with its answer, or a list of such claims"
            )
        raise InputError(f"{where}: {what}.") from None
    for one in found:
        kind = _checked(where, one.program, world)
        yield replace(one, answer=_said(where, one.answer, kind, world)) if isinstance(one, Asked) else one


def _checked(where: str, program: Program, world: World) -> str:
    """The type of a program's value; InputError where it has none, or a name that nothing in the world has."""
    try:
        kind = LANGUAGE.check(program)
    except ValueError as fault:
        raise InputError(f"{where}: the program is none of COVR's language ({fault}); correct it.") from None
    for what, name in _named(program):
        if name not in world.names[what]:
            raise InputError(f"{where}: no {what} of the world is called {name!r}; use its names.")
    return kind


def _named(program: Program) -> Iterator[tuple[str, str]]:
    """The names in a program with their kinds, but those of groups and of modifiers."""
    for row in program:
        kinds = [*OPERATORS[row.operation].arguments, *([MODIFIER] * len(row.arguments))]
        for kind, argument in zip(kinds, row.arguments, strict=False):
            if is_program(argument):
                yield from _named(argument)
            elif kind in (NOUN, ATTRIBUTE, RELATION) and isinstance(argument, str):
                yield kind, argument


def _said(where: str, answer: str, kind: str, world: World) -> str:
    """An answer as programs give it; InputError where it is of another kind, or no name of the world."""
    answer = answer.strip()
    said = _SAID.get(answer.lower(), answer.lower()) if kind == TRUTH else answer
    number = said.isascii() and said.isdigit()
    good = said in ("true", "false") if kind == TRUTH else number if kind == NUMBER else bool(said)
    if not good:
        wanted = {TRUTH: "true or false", NUMBER: "a number, 0 or more"}.get(kind, "a name")
        raise InputError(f"{where}: the answer is {answer!r}; the program gives {wanted}.")
    if kind == NUMBER:
        return said.lstrip("0") or "0"
    if kind == TRUTH:
        return said
    if (name := world.called.get(said.casefold())) is None:
        raise InputError(f"{where}: nothing of the world is called {answer!r}; use its names.")
    return name


def _told(asked: Asked | Ranked, world: World) -> tuple[str, str, str]:
    """The verdict on what is asked, its cause, and the true answer."""
    if isinstance(asked, Ranked):
        return _ranked(asked, world)
    verdict, cause, truth = _judged(asked.program, asked.answer, asked.scene_ids, world)
    return (AMBIGUOUS, SEVERAL[0], truth) if asked.alone and verdict == WRONG else (verdict, cause, truth)


def _judged(program: Program, answer: str, scene_ids: Sequence[str], world: World) -> tuple[str, str, str]:
    """The verdict on a program's answer, its cause, and the true answer."""
    cause, truth = world.judge(program, answer, scene_ids)
    if not cause:
        return TRUE, "", truth
    reason = truth.removeprefix(_NO_ANSWER) if truth.startswith(_NO_ANSWER) else ""
    if cause == NARROW or reason in SEVERAL:
        return AMBIGUOUS, cause if cause == NARROW else reason, truth
    if reason or _annotated(program, scene_ids, world) != answer:
        return WRONG, reason or GENERATOR, truth
    return WRONG, cause, truth


def _ranked(asked: Ranked, world: World) -> tuple[str, str, str]:
    """The verdict on which scene has most or fewest, its cause, and the true numbers of all."""
    complete, present = world.judge.scenes(asked.scene_ids)
    annotated = list(world.annotated.graphs(asked.scene_ids))
    views = ((complete, world.judge.lexicon), (complete, None), (present, None), (annotated, None))
    true, narrow, known, said = (
        [int(execute(asked.program, [scene], lexicon)) for scene in scenes] for scenes, lexicon in views
    )
    truth = " and ".join(map(str, true))
    if asked.first(true):
        return TRUE, "", truth
    if asked.shared(true) or asked.first(narrow):
        return AMBIGUOUS, SEVERAL[0] if asked.shared(true) else NARROW, truth
    if not asked.first(said):
        return WRONG, GENERATOR, truth
    return WRONG, "missing" if asked.first(known) else "wrong", truth


def _annotated(program: Program, scene_ids: Sequence[str], world: World) -> str:
    try:
        return answer_text(execute(program, list(world.annotated.graphs(scene_ids))))
    except ProgramError as error:
        return f"{_NO_ANSWER}{error.reason}"


def _verdict(found: Sequence[tuple[str, str, str]]) -> tuple[str, str, str]:
    """The verdict on a question that stands for several: the worst of theirs, and the true answers of all."""
    worst = next(verdict for verdict in (WRONG, AMBIGUOUS, TRUE) if verdict in {one for one, _, _ in found})
    return worst, next(cause for one, cause, _ in found if one == worst), ", ".join(truth for *_, truth in found)


def shares(judged: Sequence[Mapping], level: float = 0.95) -> Iterator[tuple[str, str, str, int, int, float, float]]:
    """Template, verdict, cause, how many of how many questions, and the interval of their share (Wilson's, where
    questions with an image in common are alike): for all, and for each template where there are several; a verdict
    with the cause "" is of all causes."""
    templates = sorted({row["template"] for row in judged})
    for template in ["", *(templates if len(templates) > 1 else ())]:
        of = [row for row in judged if template in ("", row["template"])]
        images = [row["images"].split() for row in of]
        for verdict in VERDICTS:
            for cause in ["", *sorted({row["cause"] for row in of if row["verdict"] == verdict} - {""})]:
                held = np.array([row["verdict"] == verdict and cause in ("", row["cause"]) for row in of])
                told = share_of(held, images, level)
                yield template, verdict, cause, int(held.sum()), len(of), told.low or 0.0, told.high or 0.0
