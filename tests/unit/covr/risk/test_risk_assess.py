"""The risk of questions where nothing was seen: that of any claim of its kind, as often as the question makes one."""

import math
from collections import Counter

import numpy as np
import pytest

from compvqa import tables
from compvqa.covr.filters.images.presence import Knowledge, PresenceSettings
from compvqa.covr.questions.references import matches, rows
from compvqa.covr.questions.tables import QUESTIONS, RISK
from compvqa.covr.risk.assess import _Needed, assess
from compvqa.covr.risk.calibration import CAUSES, CLAIMS, LABELLED, Fitted
from compvqa.covr.risk.labels import Apart, LabelSettings, label
from compvqa.covr.subgraphs.subgraph import make
from compvqa.covr.subgraphs.tables import CANDIDATES, RELATED, SEEDS
from compvqa.files import write_json
from compvqa.programs.rows import Row, to_json
from fixtures.project import OLD_PROCESSOR, computed
from unit.covr.questions.question_worlds import write_world

SOME = ("boy", "cat", "hat")


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> dict:
    root = tmp_path_factory.mktemp("risk")
    graphs = write_world(root / "here", 12)
    write_world(root / "apart", 30, most_seeds=60, first=500)
    write_world(root / "truth", 30, most_seeds=60, first=540)  # other scenes: all annotations are wrong as it happens
    truth = tables.read(root / "truth/scenes/scenes.parquet")["scene_id"].to_pylist()
    seeds = tables.read(root / "apart/seeds.parquet", SEEDS)
    renamed = dict(zip(tables.read(root / "apart/scenes/scenes.parquet")["scene_id"].to_pylist(), truth, strict=True))
    for path in (root / "truth/scenes").glob("*.parquet"):
        back = {new: old for old, new in renamed.items()}
        found = [row | {"scene_id": back[row["scene_id"]]} for row in tables.read(path).to_pylist()]
        tables.write(path, _schema(path.stem), found)
    related = tables.read(root / "apart/related.parquet", RELATED)
    tables.write(root / "apart/candidates.parquet", CANDIDATES, related)
    write_json(root / "lexicon.json", {"nouns": {}, "attributes": {}, "relations": {}})
    ids = [graph.scene_id for graph in graphs]
    questions = [_count(number, noun, ids[number : number + 3], graphs) for number, noun in enumerate(SOME * 3)]
    given = Knowledge(root / "here/scenes", root, root)
    labels = Apart(
        [root / "apart/seeds.parquet"],
        [root / "apart/candidates.parquet"],
        root / "apart/scenes",
        root / "truth/scenes",
    )
    assert len(seeds) > 10
    for name in ("labelled", "again"):
        label(labels, root / "lexicon.json", given, root / f"{name}.parquet", LabelSettings(labelled=100), 1)
    shards = {"risk": questions, "first": questions[:4], "second": questions[4:]}
    for name, shard in shards.items():
        tables.write(root / f"questions-{name}.parquet", QUESTIONS, shard)
        asked = root / f"questions-{name}.parquet", root / "labelled.parquet", [], given
        assess(*asked, root / f"{name}.parquet", PresenceSettings())
    return {"root": root, "graphs": {graph.scene_id: graph for graph in graphs}, "questions": questions}


def _schema(name: str) -> tables.Schema:
    from compvqa.scenes.tables import TABLES

    return next(schema for schema in TABLES if schema.name == name)


def _count(number: int, noun: str, scene_ids: list[str], graphs: list) -> dict:
    program = [*rows(make(noun)), Row("Count", (), (0,))]
    n = sum(len(matches(graph, make(noun))) for graph in graphs if graph.scene_id in scene_ids)
    known = {"question_id": f"{number:016x}", "program": to_json(program), "answer": str(n), "scene_ids": scene_ids}
    known["seed"] = number
    return dict.fromkeys(QUESTIONS.fields.names) | known


def test_each_claim_is_as_risky_as_those_that_were_looked_at(told):
    labelled = tables.read(told["root"] / "labelled.parquet", LABELLED).to_pylist()
    assert {row["cause"] for row in labelled} == {*CAUSES, None} - {"names"}  # none overlap in an empty lexicon
    assert {row["score"] for row in labelled} == {None}
    base, by_cause = {}, {}
    for claim, causes in CLAIMS.items():
        of = [row["cause"] for row in labelled if row["claim"] == claim]
        wrong = len(of) - of.count(None)
        base[claim] = (wrong + 0.5) / (len(of) + 1)
        for cause in causes:
            by_cause[cause, claim] = base[claim] * (of.count(cause) + 1 / len(causes)) / (wrong + 1)
    assert base["no fewer"] > 0.3 and base["none"] > 0.1
    risks = {row["question_id"]: row for row in tables.read(told["root"] / "risk.parquet", RISK).to_pylist()}
    for asked, noun in zip(told["questions"], SOME * 3, strict=True):
        there = sum(bool(matches(told["graphs"][scene_id], make(noun))) for scene_id in asked["scene_ids"])
        n = {"none": 3 - there, "unrelated": 0, "no fewer": there, "no more": there}
        row = risks[asked["question_id"]]
        for cause in CAUSES:
            right = math.prod((1 - by_cause.get((cause, claim), 0)) ** n[claim] for claim in CLAIMS)
            assert row[f"risk_{cause}"] == pytest.approx(1 - right, abs=1e-4)
        right = math.prod((1 - base[claim]) ** n[claim] for claim in CLAIMS)
        assert row["risk"] == pytest.approx(1 - right, abs=1e-4)


def test_where_nothing_can_go_wrong_the_risk_is_zero_without_a_sign():
    needed = _Needed([], np.zeros(1, int), np.zeros(1, int), np.zeros(1, int), 2)  # the second needs no claim
    risks = needed.risks({claim: Fitted(0.0, 0.0, 0.5, {}) for claim in CLAIMS}, np.array([np.nan]))
    assert risks[:, 1].tolist() == [0.0] * (len(CAUSES) + 1) and not np.signbit(risks).any()


def test_no_scene_is_looked_at_much_more_often_than_others(told):
    labelled = tables.read(told["root"] / "labelled.parquet", LABELLED).to_pylist()
    often = Counter(row["scene_id"] for row in labelled if row["claim"] == "none")
    assert len(often) > 20 and max(often.values()) <= 2 * 100 / len(often)


def test_the_same_claims_are_labelled_to_the_byte_and_shards_change_no_risk(told):
    root = told["root"]
    assert (root / "labelled.parquet").read_bytes() == (root / "again.parquet").read_bytes()
    whole, *shards = (tables.read(root / f"{name}.parquet", RISK).to_pylist() for name in ("risk", "first", "second"))
    assert whole == sum(shards, [])


ON_A_BORDER = """
import numpy as np
from compvqa.covr.risk.assess import DIGITS, _Needed
from compvqa.covr.risk.calibration import CAUSES, CLAIMS, Fitted
needed = _Needed([], *(np.zeros(1, int) for _ in range(3)), 1)
shares = {cause: 1 / len(CAUSES) for cause in CAUSES}
for base in (number / 10_000 + 0.00005 for number in range(5000)):
    fitted = {claim: Fitted(0.0, 0.0, round(base, 6), shares) for claim in CLAIMS}
    print(np.round(needed.risks(fitted, np.array([np.nan])), DIGITS).ravel().tolist())
"""


def test_a_risk_on_the_border_of_two_digits_is_the_same_on_every_processor():
    found = computed(ON_A_BORDER)
    assert found == computed(ON_A_BORDER, **OLD_PROCESSOR) and len(found.splitlines()) == 5000
