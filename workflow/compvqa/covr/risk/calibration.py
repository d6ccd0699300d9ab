"""How likely a claim is wrong, by what the image filter saw, fitted on claims about images that somebody looked at.

They are about images apart from all folds, whose truth stands for what people would say of them, as with the claims by
which the thresholds are set (App. B). A claim is wrong by one of CAUSES:

* ``absence``: the subgraph is said not to be there, and is;
* ``presence``: it is said to be there, and is not;
* ``others``: it is there, and so are more than are annotated;
* ``names``: it is right by the letter, but what is there has another name, and may be called so as well.

Claims of different kinds, CLAIMS, are fitted apart: annotators leave out a relation more readily than an object. The
score is the least presence of the simple subgraphs; where there may be more, that of others than those annotated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import expit, logit

from compvqa import tables
from compvqa.covr.executor import Entailment
from compvqa.covr.questions.references import matches
from compvqa.covr.subgraphs.keys import kinds_of
from compvqa.covr.subgraphs.subgraph import Held, Reference, Subgraph, make, parse
from compvqa.covr.subgraphs.tables import CANDIDATES, SEEDS
from compvqa.scenes.graph import SceneGraph, SceneStore
from compvqa.seeds import by_rank
from compvqa.tables import Schema

CAUSES = ABSENCE, PRESENCE, NAMES, OTHERS = ("absence", "presence", "names", "others")
NONE = "none"  # something that it needs is not annotated at all
UNRELATED = "unrelated"  # all that it needs is, but not so related
NO_FEWER, NO_MORE = "no fewer", "no more"  # than are annotated
# What claims are about an image, and by what they may be wrong
CLAIMS = {NONE: (ABSENCE, NAMES), UNRELATED: (ABSENCE, NAMES), NO_FEWER: (PRESENCE,), NO_MORE: (OTHERS, NAMES)}
LABELLED = Schema(
    "labelled_claims",
    pa.schema(
        [
            ("claim", pa.string()),  # one of CLAIMS
            ("scene_id", pa.string()),
            ("tree", pa.string()),
            ("score", pa.float32()),  # null where there is none
            ("cause", pa.string()),  # by which it is wrong; null where it is right
        ]
    ),
    key=("claim", "scene_id", "tree"),
)
LEAST = 1e-4  # a score's distance from 0 and 1, at least: it has four digits
_STEPS = 50
_STIFFNESS = 1e-2  # of the slope: without a score that tells anything, it is 0


@dataclass(frozen=True)
class Labelled:
    """A claim about a scene, one of CLAIMS, and by what it is wrong."""

    claim: str
    scene_id: str
    graph: Subgraph
    cause: str | None


def labelled(
    seeds: Sequence[Path],
    candidates: Sequence[Path],
    annotated: SceneStore,
    complete: SceneStore,
    lexicon: Entailment,
    most: int,
    seed: int,
) -> Iterator[Labelled]:
    """Claims about scenes that have a seed's subgraph, about candidates that have its things but not so related, and
    about others that differ from it in a node: so many of each.

    As in questions, none is about a scene whose annotations match other objects if names are read as all that may be
    called so.
    """
    have, lack = _pairs(seeds, candidates)
    groups: dict[str, list[tuple[str, str]]] = {NO_FEWER: list(have), UNRELATED: [], NONE: []}
    for scene_id, tree in lack:
        groups[lacking(annotated.graph(scene_id), parse(tree))].append((scene_id, tree))
    for group, pairs in groups.items():
        for scene_id, tree in sorted(_spread(pairs, seed, f"claims {group}")[:most]):
            g, said, scene = parse(tree), annotated.graph(scene_id), complete.graph(scene_id)
            n, exact, read = len(matches(said, g)), len(matches(scene, g)), len(matches(scene, g, lexicon))
            if len(matches(said, g, lexicon)) != n:
                continue
            if n:
                yield Labelled(NO_FEWER, scene_id, g, None if read else PRESENCE)
            claim = NO_MORE if n else group
            by_letter, by_name = CLAIMS[claim]
            yield Labelled(claim, scene_id, g, by_letter if exact > n else by_name if read > n else None)


def lacking(scene: SceneGraph, g: Reference) -> str:
    """Which of CLAIMS it is that nothing in a scene is what ``g`` refers to: NONE or UNRELATED."""
    nodes = [node for _, node in (g.whole if isinstance(g, Held) else g).objects()]
    needed = {(node.name, node.attribute) for node in nodes}
    needed |= {(m.noun, None) for node in nodes for edge in node.edges for m in edge.modifiers}
    return UNRELATED if all(matches(scene, make(*thing)) for thing in needed) else NONE


def _spread(pairs: Iterable[tuple[str, str]], seed: int, what: str) -> list[tuple[str, str]]:
    """The pairs of a scene and a tree in a random order, but that scenes come equally often, as far as they have trees,
    and that those of a scene take turns by size: one error of a large scene is in a hundred of its trees."""
    turns, of_scene = Counter[tuple[str, int]](), dict[str, list]()
    for rank, (scene_id, tree) in enumerate(by_rank(seed, what, pairs)):
        g = parse(tree)
        size = g.size + g.n_attributes
        of_scene.setdefault(scene_id, []).append((turns[scene_id, size], size, rank, tree))
        turns[scene_id, size] += 1
    placed = (
        (place, rank, scene_id, tree)
        for scene_id, trees in of_scene.items()
        for place, (_, _, rank, tree) in enumerate(sorted(trees))
    )
    return [(scene_id, tree) for _, _, scene_id, tree in sorted(placed)]


def _pairs(seeds: Sequence[Path], candidates: Sequence[Path]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Pairs of a scene and a subgraph's tree that is annotated there; and that differs from what is there in a node."""
    found = tables.read_all(seeds, SEEDS, ["seed", "scene_id", "tree"]).to_pylist()
    tree_of = {row["seed"]: row["tree"] for row in found}
    have = {(row["scene_id"], row["tree"]) for row in found}
    lack = set()
    for row in tables.read_all(candidates, CANDIDATES, ["seed", "key", "scene_id"]).to_pylist():
        pair = (row["scene_id"], tree_of[row["seed"]])
        if kinds_of(row["key"]):
            lack.add(pair)
        elif row["key"] == "pos":
            have.add(pair)
    return have, lack - have


@dataclass(frozen=True)
class Fitted:
    """Gives the probability that a claim is wrong by its score: a logistic function of the score's log-odds, or the
    same for all where a score does not mean what it should."""

    slope: float
    intercept: float
    base: float  # where there is no score
    shares: Mapping[str, float]  # of the causes by which such claims are wrong

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """The risks [n] of claims with ``scores`` [n], NaN where there is none."""
        odds = logit(np.clip(np.nan_to_num(scores, nan=0.5), LEAST, 1 - LEAST))
        return np.where(np.isnan(scores), self.base, expit(self.intercept + self.slope * odds))


def fit(claim: str, scores: np.ndarray, causes: Sequence[str | None]) -> Fitted:
    """Fit by ``scores`` [n], NaN where there is none, and by what claims are wrong ([n], None: right), with Platt's
    targets.

    Where it is claimed that something is there, a high score speaks for it; else, against it.
    """
    wrong = np.array([cause is not None for cause in causes], bool)
    base = round(float((wrong.sum() + 0.5) / (len(wrong) + 1)), 6)
    known = ~np.isnan(scores)
    x, y = logit(np.clip(scores[known], LEAST, 1 - LEAST)), wrong[known]
    right = (y.sum() + 1) / (y.sum() + 2), 1 / (len(y) - y.sum() + 2)
    slope, intercept = _logistic(x, np.where(y, *right)) if y.any() and not y.all() else (0.0, float(logit(base)))
    if (round(slope, 6) > 0) == (claim == NO_FEWER):
        slope, intercept = 0.0, float(logit(base))
    counts, of = Counter(causes), CLAIMS[claim]
    shares = {cause: round((counts[cause] + 1 / len(of)) / float(wrong.sum() + 1), 6) for cause in of}
    return Fitted(round(slope, 6), round(intercept, 6), base, shares)


def _logistic(x: np.ndarray, targets: np.ndarray) -> tuple[float, float]:
    """Slope and intercept of the logistic regression of ``targets`` (0 to 1, [n]) on ``x`` [n], by Newton's steps."""
    design = np.stack([x - x.mean(), np.ones_like(x)], axis=1)
    weights = np.array([0.0, float(logit(targets.mean()))])
    stiffness = np.diag([_STIFFNESS, 0.0])
    for _ in range(_STEPS):
        p = expit(design @ weights)
        gradient = design.T @ (targets - p) - stiffness @ weights
        step = np.linalg.solve((design.T * (p * (1 - p))) @ design + stiffness, gradient)
        weights = weights + np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-9:
            break
    return float(weights[0]), float(weights[1] - weights[0] * x.mean())


def fit_all(labelled: Path) -> Mapping[str, Fitted]:
    """What is fitted for each of CLAIMS to those of a table (LABELLED)."""
    known, result = tables.read(labelled, LABELLED), {}
    for claim in CLAIMS:
        of = known.filter(pc.equal(known["claim"], claim))
        scores = of["score"].to_numpy().astype(float)  # null becomes NaN
        result[claim] = fit(claim, scores, of["cause"].to_pylist())
    return result
