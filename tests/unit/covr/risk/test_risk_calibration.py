"""Risks by score: probabilities where the score tells something, the base rate where it does not."""

import numpy as np
import pytest
from scipy.special import expit, logit

from compvqa.covr.risk.calibration import CLAIMS, NO_FEWER, NO_MORE, NONE, UNRELATED, fit, lacking
from compvqa.covr.subgraphs.subgraph import Edge, Held, Modifier, make
from compvqa.scenes.graph import Object, Relation, SceneGraph

RANDOM = np.random.default_rng(5)


def claims(n: int, slope: float, intercept: float) -> tuple[np.ndarray, np.ndarray]:
    scores = RANDOM.uniform(0.001, 0.999, n)
    return scores, RANDOM.random(n) < expit(intercept + slope * logit(scores))


def causes(claim: str, wrong: np.ndarray) -> list[str | None]:
    """Every fourth wrong claim is so by the last of the causes."""
    first, *_, last = CLAIMS[claim] * 2
    return [None if not is_wrong else last if number % 4 == 0 else first for number, is_wrong in enumerate(wrong)]


@pytest.mark.parametrize(("claim", "slope", "intercept"), [(NONE, 0.8, -2.5), (NO_FEWER, -1.1, -3), (NO_MORE, 0.4, -1)])
def test_the_probabilities_by_which_claims_go_wrong_are_found_again(claim, slope, intercept):
    scores, wrong = claims(20_000, slope, intercept)
    fitted = fit(claim, scores, causes(claim, wrong))
    assert sum(fitted.shares.values()) == pytest.approx(1) and tuple(fitted.shares) == CLAIMS[claim]
    assert len(CLAIMS[claim]) == 1 or fitted.shares["names"] == pytest.approx(0.25, abs=0.03)
    assert (fitted.slope, fitted.intercept) == (pytest.approx(slope, abs=0.1), pytest.approx(intercept, abs=0.15))
    told = fitted(scores)
    for low, high in ((0, 0.2), (0.2, 0.8), (0.8, 1)):
        these = (scores >= low) & (scores < high)
        assert told[these].mean() == pytest.approx(wrong[these].mean(), abs=0.02)
    assert told.mean() == pytest.approx(wrong.mean(), abs=0.01)


@pytest.mark.parametrize("scores", ["constant", "none", "reversed", "shuffled"])
def test_a_score_that_tells_nothing_gives_all_the_same_risk(scores):
    given, wrong = claims(4000, 1, -2)
    model = {
        "constant": np.full(4000, 0.3),
        "none": np.full(4000, np.nan),
        "reversed": 1 - given,
        "shuffled": RANDOM.permutation(given),
    }[scores]
    told = fit(NONE, model, causes(NONE, wrong))(given)
    assert told.mean() == pytest.approx(wrong.mean(), abs=0.02)
    assert told.max() - told.min() < (0.1 if scores == "shuffled" else 1e-9)


def test_few_claims_none_of_them_wrong_are_no_proof():
    fitted = fit(NO_FEWER, np.array([0.9, 0.8]), [None, None])
    assert (fitted(np.array([0.9, np.nan])) > 0.1).all()
    nobody = fit(NO_FEWER, np.array([]), [])
    assert nobody(np.array([0.1, np.nan])).tolist() == [0.5, 0.5]


MAN = make("man")
CUP = make("cup", "red")


@pytest.mark.parametrize(
    ("asked", "claim"),
    [
        (make("man", None, (Edge("holding", CUP),)), UNRELATED),
        (Held(MAN, Edge("holding", CUP)), UNRELATED),
        (make("man", None, (Edge("holding", make("cup", "blue")),)), NONE),
        (make("man", "red"), NONE),
        (make("man", None, (Edge("holding", make("dog")),)), NONE),
        (make("man", None, (Edge("on", CUP, (Modifier("near", "man"),)),)), UNRELATED),
        (make("man", None, (Edge("on", CUP, (Modifier("near", "dog"),)),)), NONE),
    ],
)
def test_things_that_are_there_but_not_so_related_are_told_from_things_that_are_not_there(asked, claim):
    things = {"0": Object("0", "man", {}), "1": Object("1", "cup", {"red": None})}
    assert lacking(SceneGraph("s", things, (Relation("behind", "0", "1", ()),)), asked) == claim
