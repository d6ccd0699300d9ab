"""Questions for scenes: in each scene some of the templates, so that templates and answers stay even (CLEVR, 3.2).

Scenes come in blocks, within which counts of templates and answers are kept. In each scene templates are tried in the
order of how many questions they have so far, until there are enough; an answer that its template has given too often is
refused. Every draw is keyed by seed, scene and template, and blocks don't know of each other, so that shards change
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import pyarrow as pa
from pydantic import Field

from compvqa import tables
from compvqa.clevr.executor import Value, in_words
from compvqa.clevr.language import OPERATORS, VALUES
from compvqa.clevr.options import SceneOptions
from compvqa.clevr.scene import Scene, read_scenes
from compvqa.clevr.search import Plan, Search
from compvqa.clevr.tables import QUESTIONS
from compvqa.clevr.templates import Template
from compvqa.clevr.words import Words, text
from compvqa.errors import InputError
from compvqa.programs.language import TRUTH
from compvqa.programs.rows import to_json
from compvqa.progress import track
from compvqa.questions.tables import DROPPED
from compvqa.seeds import generator, stable_hash
from compvqa.settings import Settings

NOTHING_FITS, FREQUENT, DEGENERATE = "nothing in the scene fits", "answers too frequent", "degenerate"
TOO_FEW = "scenes with fewer questions than wanted"
OF_GROUP = {kind: group for group, kind in VALUES.items()}


class GenerateSettings(Settings):
    """How questions are made of templates."""

    per_scene: int = Field(10, ge=1, description="questions in a scene, each of a template of its own")
    block: int = Field(250, ge=1, description="scenes over which templates and answers are kept even")
    most_counted: int = Field(10, ge=0, description="the largest number that may be an answer")
    distinct: Literal["sets", "outputs"] = Field(
        "sets",
        description="what it means that two counts must differ: that other objects are counted, or (outputs) that the "
        "numbers differ, as in the original code, where compare_integer's first family then only answers no",
    )


def generate(
    scenes: Path,
    templates: Sequence[Template],
    words: Words,
    settings: GenerateSettings,
    seed: int,
    testbed: str,
    out: Path,
    dropped: Path,
    shard: int = 0,
    shards: int = 1,
) -> dict[str, int]:
    """Write the questions of one shard's blocks for the scenes in a folder of scene tables to ``out``.

    ``dropped`` gets the number of scenes in which a template was tried in vain, by reason. Gives counts.
    """
    if not templates:
        raise InputError("There are no templates to make questions of: name a folder that holds some.")
    plans = [Plan.of(template, settings.distinct == "sets") for template in templates]
    parts, reasons, counts = [QUESTIONS.fields.empty_table()], Counter[tuple[str, str]](), Counter[str]()
    for number, block in enumerate(track(blocks(read_scenes(scenes), settings.block), "questions", unit="block")):
        if number % shards != shard:
            continue
        rows = list(of_block(block, plans, words, settings, seed, reasons))
        parts.append(QUESTIONS.from_rows(row | {"testbed": testbed} for row in rows))
        counts.update({"scenes": len(block), "questions": len(rows)})
    tables.write(out, QUESTIONS, pa.concat_tables(parts))
    rows = [{"template": name, "reason": reason, "n": n} for (name, reason), n in reasons.items()]
    tables.write(dropped, DROPPED, rows)
    return {"scenes": counts["scenes"], "questions": counts["questions"]} | {
        f"dropped: {reason}": sum(n for (_, why), n in reasons.items() if why == reason)
        for reason in (NOTHING_FITS, FREQUENT, DEGENERATE, TOO_FEW)
    }


def blocks(scenes: Iterable[Scene], size: int) -> Iterator[list[Scene]]:
    """The scenes in blocks of ``size``, each of one side (train or val), in their order."""
    waiting: dict[str, list[Scene]] = {}
    for scene in scenes:
        block = waiting.setdefault(scene.split, [])
        block.append(scene)
        if len(block) == size:
            yield waiting.pop(scene.split)
    yield from (waiting[split] for split in sorted(waiting))


def of_block(
    block: Sequence[Scene],
    plans: Sequence[Plan],
    words: Words,
    settings: GenerateSettings,
    seed: int,
    dropped: Counter[tuple[str, str]],
) -> Iterator[dict]:
    """The questions of a block's scenes, as rows without a test-bed; reasons are added to ``dropped``."""
    used = [0] * len(plans)
    answers = [dict.fromkeys(possible(plan.template, words, settings.most_counted), 0) for plan in plans]
    for scene in block:
        options = SceneOptions(scene, words, seed)
        made = 0
        for place in sorted(range(len(plans)), key=used.__getitem__):
            template = plans[place].template
            rng = generator(seed, "question", scene.scene_id, template.name)
            search = Search(plans[place], options, acceptable(answers[place]), rng)
            found = search.run()
            if found is None:
                why = FREQUENT if search.frequent else DEGENERATE if search.degenerate else NOTHING_FITS
                dropped[template.name, why] += 1
                continue
            program, answer, filled = found
            answers[place][answer] += 1
            used[place] += 1
            made += 1
            question = text(template, filled, words, rng)
            yield _row(scene, template.name, question, to_json(program), in_words(answer))
            if made == settings.per_scene:
                break
        if made < settings.per_scene:
            dropped["", TOO_FEW] += 1


def _row(scene: Scene, template: str, question: str, program: str, answer: str | None) -> dict:
    identity = stable_hash(question, scene.scene_id, template, answer) & 0xFFFF_FFFF_FFFF_FFFF
    return {
        "question_id": f"{identity:016x}",
        "split": scene.split,
        "part": scene.split,
        "template": template,
        "text": question,
        "program": program,
        "answer": answer,
        "scene_ids": [scene.scene_id],
        "properties": None,
    }


def possible(template: Template, words: Words, most_counted: int) -> list[Value]:
    """The answers that a template may have."""
    kind = OPERATORS[template.last].output
    if kind == TRUTH:
        return [True, False]
    return list(words.values[OF_GROUP[kind]]) if kind in OF_GROUP else list(range(most_counted + 1))


def acceptable(counts: Mapping[Value, int]) -> set[Value]:
    """The answers that a template has not given too often: over 1.1 times the second most frequent one's number, or
    five times the median, which counts as 5 at least."""
    ordered = sorted(counts.values())
    second, median = ordered[-2:][0], max(ordered[len(ordered) // 2], 5)
    return {answer for answer, n in counts.items() if n <= 1.1 * second and n <= 5.0 * median}
