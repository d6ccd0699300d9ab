"""Annotated pairs of a scene and a subgraph, made from scenes whose truth is known: what people annotate elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field

from compvqa import tables
from compvqa.covr.executor import trace
from compvqa.covr.filters.images.thresholds import Annotated, write_annotated
from compvqa.covr.questions.references import rows
from compvqa.covr.subgraphs.keys import KINDS, kinds_of
from compvqa.covr.subgraphs.subgraph import Subgraph, parse
from compvqa.covr.subgraphs.tables import CANDIDATES, SEEDS
from compvqa.progress import track
from compvqa.scenes.graph import SceneGraph, SceneStore
from compvqa.scenes.lexicon import Lexicon
from compvqa.seeds import by_rank
from compvqa.settings import Settings


class ImageLabelSettings(Settings):
    """How many pairs are labelled."""

    per_kind: int = Field(
        1500, ge=1, description="candidate images of each kind of differing node, at most (paper: 441)"
    )


def label_images(
    seeds: Sequence[Path],
    candidates: Sequence[Path],
    complete: Path,
    lexicon: Path,
    out: Path,
    settings: ImageLabelSettings,
    seed: int,
) -> dict[str, int]:
    """Write, for candidates that differ in one kind of node, drawn by stable rank, whether the subgraph is in the
    complete scene after all; a name stands for all that may truly be called so. ``complete`` holds the scene tables."""
    tree_of: dict[int, str] = {}
    for path in seeds:
        read = tables.read(path, SEEDS, ["seed", "tree"])
        tree_of.update(zip(read["seed"].to_pylist(), read["tree"].to_pylist(), strict=True))
    pairs: dict[str, set[tuple[str, str]]] = {kind: set() for kind in KINDS}
    for path in candidates:
        read = tables.read(path, CANDIDATES, ["seed", "key", "scene_id"])
        for number, key, scene_id in zip(*(column.to_pylist() for column in read.columns), strict=True):
            kinds = kinds_of(key)
            if len(kinds) == 1:
                pairs[min(kinds)].add((scene_id, tree_of[number]))
    truth, knowledge = SceneStore(complete), Lexicon.load(lexicon)

    def labelled() -> Iterator[Annotated]:
        for kind, found in pairs.items():
            for scene_id, tree in sorted(by_rank(seed, f"labels {kind}", found)[: settings.per_kind]):
                graph = parse(tree)
                yield Annotated(scene_id, graph, kind, _contains(truth.graph(scene_id), graph, knowledge))

    made = list(track(labelled(), "labels"))
    write_annotated(out, made)
    counts = {"in": sum(map(len, pairs.values())), "out": len(made)}
    return counts | {f"{kind}: present": sum(m.present for m in made if m.differs == kind) for kind in KINDS}


def _contains(scene: SceneGraph, g: Subgraph, lexicon: Lexicon) -> bool:
    return bool(trace(rows(g), [scene], lexicon)[-1][0])
