"""The questions of a held-out pair, set by set, in one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from compvqa import query
from compvqa.clevr.gather import summed, write_dropped
from compvqa.clevr.generate import generate
from compvqa.clevr.hope import minimal
from compvqa.clevr.hope.sets import MINIMAL, SETS, PairSettings, asking
from compvqa.clevr.hope.walk import taken_of
from compvqa.clevr.tables import QUESTIONS
from compvqa.clevr.templates import Template
from compvqa.clevr.words import Words
from compvqa.scratch import scratch_folder


def ask(
    names: Sequence[str],
    scenes: Path,
    taken: Path,
    settings: PairSettings,
    templates: Sequence[Template],
    words: Words,
    seed: int,
    testbed: str,
    out: Path,
    dropped: Path,
    shard: tuple[int, int] = (0, 1),
    memory: str = "256MB",
) -> dict[str, int]:
    """Write a shard (number from 0, of how many) of the questions of the sets ``names``
    (:data:`compvqa.clevr.hope.sets.SETS`, and both minimal ones together) to ``out``, and to ``dropped`` in how many
    scenes templates were tried in vain.

    ``taken`` tells which scenes of the folder of scene tables the pair takes; shards take turns with their blocks.
    Gives counts by set.
    """
    counts: Counter[str] = Counter()
    with scratch_folder(out.parent, "pair_questions") as folder:
        made, left = [folder / f"{name}.parquet" for name in names], [folder / f"{name}.dropped" for name in names]
        for name, path, why in zip(names, made, left, strict=True):
            if name == MINIMAL:
                found = minimal.questions(scenes, settings, templates, words, seed, testbed, path, shard)
                write_dropped(why, {})
            else:
                chosen, rules = taken_of(taken, SETS[name].pool), asking(settings, name, words)
                found = generate(
                    scenes, templates, words, rules, seed, testbed, path, why, *shard, chosen=chosen, part=name
                )
            counts.update(found if len(names) == 1 else {f"{name}, {what}": n for what, n in found.items()})
        with query.connect(out.parent, memory) as connection:
            connection.read_parquet([*map(str, made)]).create_view("made")
            rows = query.write(connection, "FROM made", out, QUESTIONS)
        write_dropped(dropped, summed(left))
    return {"out": rows, **counts}
