"""Which candidate distractors the filters drop, and which of them are false: images that hold the subgraph after all.

What is judged is drawn from the candidates of a chain without filters, and from those alone that differ in a node and
would be asked about. One that another chain's search has not found was left out by its overlap of names, unless it
comes, by stable rank, after all that this search found under its cap: such a one is not judged. (The cap on what is
checked counts a scene for each name that is exclusive there, and another chain may lack the one by which it came early;
a scene that is lost so counts as left out by its overlap of names.) A candidate is false if the complete scene contains
the subgraph (a name stands for all that may be called so); why is told by the first of these that contains it too:

* ``overlapping names``: the annotated scene, by names that are true of what is annotated;
* ``wrong``: the scene without wrong annotations, though with missing ones;
* ``missing``: the complete scene alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import duckdb
import pyarrow as pa
from pydantic import Field, PositiveInt

from compvqa import query, tables
from compvqa.covr.executor import trace
from compvqa.covr.filters.images.presence import PRESENCE
from compvqa.covr.judging.validity import Judge
from compvqa.covr.questions.references import rows
from compvqa.covr.subgraphs.related import RelatedSettings
from compvqa.covr.subgraphs.simple import simple_subgraphs
from compvqa.covr.subgraphs.store import create, view
from compvqa.covr.subgraphs.subgraph import Subgraph, parse
from compvqa.covr.subgraphs.tables import CANDIDATES, SEEDS
from compvqa.errors import InputError
from compvqa.progress import track
from compvqa.scenes.graph import SceneGraph, SceneStore
from compvqa.settings import Settings
from compvqa.tables import Schema

DISTRACTORS = Schema(
    "distractors",
    pa.schema(
        [
            ("arm", pa.string()),  # the chain, by its methods: <overlap.method>-<presence.method>
            ("seed", pa.int64()),
            ("key", pa.string()),
            ("scene_id", pa.string()),
            ("kind", pa.string()),  # of the nodes that differ: one of KINDS
            ("cause", pa.string()),  # why the image holds the subgraph; "" where it truly lacks it
            ("dropped", pa.string()),  # by which filter of the arm: words, images; "" where it is kept
            ("score", pa.float32()),  # the least presence of a simple subgraph; null where one has no score
            ("tau", pa.float32()),  # the threshold in use: dropped by images if the score is above
            ("tau_paper", pa.float32()),  # the paper's threshold
        ]
    ),
    key=("arm", "seed", "key", "scene_id"),
)
NO_FILTERS = "none-none"
KINDS = ("object", "relation", "attribute", "mixed")
CAUSES = ("overlapping names", "wrong", "missing")
WORDS, IMAGES = "words", "images"
_KIND = {"name": "object", "object": "object", "relation": "relation", "attr": "attribute"}

T = TypeVar("T")
Row = tuple[int, str, str]  # seed, key, scene_id


class DistractorSettings(Settings):
    """Judging distractors against the truth."""

    arms: tuple[str, ...] = Field(description="the chains, in the order in which their tables are given")
    asked: PositiveInt = Field(30, description="candidates of a seed and key that a chain asks about, at most")
    per_kind: PositiveInt = Field(4000, description="distractors judged of each kind, drawn by stable rank")
    memory: str = Field("2GB", description="memory of the search for them, before it uses the disk")
    related: RelatedSettings = Field(RelatedSettings(), description="the thresholds that the chains use")


@dataclass(frozen=True)
class Drawn:
    """A distractor that is judged."""

    row: Row
    kind: str
    graph: Subgraph
    parts: tuple[int, ...]  # keys of the subgraph's simple subgraphs

    def score(self, presence: Mapping[tuple[str, int], float]) -> float | None:
        """The least presence of a simple subgraph in the image; None where one has no score."""
        found = [presence.get((self.row[2], part)) for part in self.parts]
        known = [p for p in found if p is not None]
        return min(known) if len(known) == len(found) else None


def distractors(
    seeds: Sequence[Path],
    candidates: Sequence[Sequence[Path]],
    presence: Sequence[Sequence[Path]],
    scenes: Path,
    truth: Path,
    lexicon: Path,
    out: Path,
    settings: DistractorSettings,
    seed: int,
) -> dict[str, int]:
    """Write for each arm what becomes of the same distractors, and whether they are false.

    ``candidates`` and ``presence`` are the tables of each of the arms, ``seeds`` those of the arm none-none.
    Counts: distractors drawn, those not judged, and those that are false by cause; by arm those that each filter drops.
    """
    candidates_of, presence_of = by_arm(settings.arms, candidates), by_arm(settings.arms, presence)
    if NO_FILTERS not in settings.arms:
        raise InputError(f"the chain {NO_FILTERS} is missing: distractors are drawn from what it has found.")
    judge = _Truth.load(scenes, truth, lexicon)
    with query.connect(out.parent, settings.memory) as connection:
        every = _draw(connection, seeds, candidates_of[NO_FILTERS], settings, seed)
        passed = {arm: _passed(connection, paths, settings.asked) for arm, paths in candidates_of.items()}
        unknown = set().union(*(beyond for _, beyond in passed.values()))
        drawn = [item for item in every if item.row not in unknown]
        causes = [judge(item.graph, item.row[2]) for item in track(drawn, "judging distractors", len(drawn))]
        found: list[dict] = []
        for arm, (left, _) in passed.items():
            found += _of_arm(arm, drawn, causes, left, _presence(connection, presence_of[arm]), settings.related)
    tables.write(out, DISTRACTORS, found)
    counts = Counter({"in": len(every), "dropped: beyond a cap": len(unknown), "out": len(found)})
    counts.update(f"false: {cause}" for cause in causes if cause)
    counts.update(f"{row['arm']} dropped by {row['dropped']}" for row in found if row["dropped"])
    return dict(counts)


def by_arm(arms: Sequence[str], given: Sequence[T]) -> dict[str, T]:
    """What is given for each arm; too few or too many raise :class:`InputError`."""
    if len(arms) != len(given):
        raise InputError(f"there are tables of {len(given)} chains, but {len(arms)} chains: {', '.join(arms)}.")
    return dict(zip(arms, given, strict=True))


def kind_of(key: str) -> str | None:
    """The kind of the nodes that differ by ``key``; None where none does."""
    kinds = {_KIND[part] for part in key.split("_") if part in _KIND}
    return "mixed" if len(kinds) > 1 else next(iter(kinds), None)


def _draw(
    connection: duckdb.DuckDBPyConnection,
    seeds: Sequence[Path],
    candidates: Sequence[Path],
    settings: DistractorSettings,
    seed: int,
) -> list[Drawn]:
    """The distractors to judge, as table ``drawn`` and as objects; and what they are asked, as table ``asked``."""
    view(connection, "all_candidates", candidates, CANDIDATES)
    view(connection, "all_seeds", seeds, SEEDS)
    keys = [key for (key,) in connection.execute("select distinct key from all_candidates order by 1").fetchall()]
    kinds = {"key": pa.array(keys, pa.string()), "kind": pa.array(map(kind_of, keys), pa.string())}
    create(connection, "kinds", kinds)
    connection.execute(_DRAWN, {"seed": str(seed), "asked": settings.asked, "size": settings.per_kind})
    connection.execute(_BESIDE)
    found = connection.execute(
        "select d.seed, d.key, d.scene_id, d.kind, s.tree from drawn d join all_seeds s using (seed) order by all"
    ).fetchall()
    drawn = []
    for *row, kind, tree in found:
        graph = parse(tree)
        drawn.append(Drawn(tuple(row), kind, graph, tuple(part.key for part in simple_subgraphs(graph))))
    asked = sorted({(item.row[2], part) for item in drawn for part in item.parts})
    columns = {
        "scene_id": pa.array([s for s, _ in asked], pa.string()),
        "part": pa.array([p for _, p in asked], "int64"),
    }
    create(connection, "asked", columns)
    return drawn


_DRAWN = """
create table drawn as
select kind, unnest(min_by(
    {'seed': seed, 'key': key, 'scene_id': scene_id, 'rank': rank},
    md5($seed || ' distractor ' || seed || ' ' || key || ' ' || scene_id), $size), recursive := true)
from all_candidates join kinds using (key) where kind is not null and rank < $asked group by kind
"""
# all that was found beside them for the same seeds and keys
_BESIDE = (
    "create table beside as select seed, key, scene_id, rank from all_candidates semi join drawn using (seed, key)"
)
_LEFT = """
create or replace temp table remaining as
select seed, key, scene_id from read_parquet($paths) semi join drawn using (seed, key) where rank < $asked
"""
# those after all of a full list; the list's own scenes that are not beside them come after them as well
_BEYOND = """
select d.seed, d.key, d.scene_id
from drawn d anti join remaining using (seed, key, scene_id)
join (
    select r.seed, r.key, count(*) as n, max(b.rank) as last
    from remaining r left join beside b using (seed, key, scene_id) group by r.seed, r.key) of using (seed, key)
where n >= $asked and d.rank > coalesce(last, -1)
"""


def _passed(connection: duckdb.DuckDBPyConnection, candidates: Sequence[Path], asked: int) -> tuple[set[Row], set[Row]]:
    """The drawn distractors that an arm's overlap of names has left, and those that its cap may have left out."""
    connection.execute(_LEFT, {"paths": [str(path) for path in candidates], "asked": asked})
    left = connection.execute("from drawn semi join remaining using (seed, key, scene_id) select seed, key, scene_id")
    return set(left.fetchall()), set(connection.execute(_BEYOND, {"asked": asked}).fetchall())


def _presence(connection: duckdb.DuckDBPyConnection, presence: Sequence[Path]) -> dict[tuple[str, int], float]:
    """The presence of simple subgraphs in images, as far as the drawn distractors ask for it."""
    for path in presence:
        tables.check(path, PRESENCE)
    statement = """select p.scene_id, p.subgraph_key, p.p
        from read_parquet($paths) p semi join asked a on a.scene_id = p.scene_id and a.part = p.subgraph_key
        where not p.masked"""
    found = connection.execute(statement, {"paths": [str(path) for path in presence]}).fetchall()
    return {(scene_id, part): p for scene_id, part, p in found}


def _of_arm(
    arm: str,
    drawn: Sequence[Drawn],
    causes: Sequence[str],
    passed: set[Row],
    presence: Mapping[tuple[str, int], float],
    settings: RelatedSettings,
) -> Iterator[dict]:
    """The rows of an arm, which drops a distractor as ``graphs.related`` does."""
    papers = RelatedSettings()
    for item, cause in zip(drawn, causes, strict=True):
        seed, key, scene_id = item.row
        score, tau = item.score(presence), settings.tau(key)
        seen = score is not None and tau is not None and score > tau
        yield {
            "arm": arm, "seed": seed, "key": key, "scene_id": scene_id, "kind": item.kind, "cause": cause,
            "dropped": WORDS if item.row not in passed else IMAGES if seen else "",
            "score": score, "tau": tau, "tau_paper": papers.tau(key),
        }  # fmt: skip


@dataclass(frozen=True)
class _Truth:
    """Tells why a scene contains a subgraph that nobody annotated in it; "" if it does not."""

    annotated: SceneStore
    judge: Judge

    @staticmethod
    def load(scenes: Path, truth: Path, lexicon: Path) -> _Truth:
        return _Truth(SceneStore(scenes), Judge.load(scenes, truth, lexicon))

    def __call__(self, g: Subgraph, scene_id: str) -> str:
        (complete,), (present,) = self.judge.scenes([scene_id])
        if not self._contains(complete, g):
            return ""
        stages = (self.annotated.graph(scene_id), present, complete)
        return next(cause for cause, scene in zip(CAUSES, stages, strict=True) if self._contains(scene, g))

    def _contains(self, scene: SceneGraph, g: Subgraph) -> bool:
        return bool(trace(rows(g), [scene], self.judge.lexicon)[-1][0])
