"""The properties that accuracy is told by, on programs of the paper's templates."""

import pyarrow as pa

from compvqa import tables
from compvqa.covr.properties import Question, held
from compvqa.covr.questions.tables import DATASET
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, make
from compvqa.evaluation.properties import properties_of
from compvqa.programs.rows import Row, to_json

STANDING = (Row("Scene"), Row("Filter", ("standing",), (0,)), Row("Exists", (), (1,)))
CAT_ON_BED = [Row("Find", ("cat",)), Row("Find", ("bed",)), Row("WithRelation", ("on",), (0, 1))]
CAT = make("cat", None, (Edge("on", make("bed")),))
SOUP = make("man", None, (Edge("eating", make("soup"), (Modifier("with", "spoon"),)),))


def question(program, answer="true", g=CAT):
    return Question("COUNT", answer, to_json(program), g.json())


def test_kinds_stand_beside_their_values():
    some = question([*CAT_ON_BED, Row("Some", (STANDING,), (2,))])
    assert held(some) == ["HAS-QUANT", "HAS-QUANT-COMPSCOPE", "HAS-QUANT-SOME"]
    more = question([Row("Find", ("cat",)), Row("Count", (), (0,)), Row("Count", (), (0,)), Row("gt", (), (1, 2))])
    assert held(more) == ["HAS-COMPAR", "HAS-COMPAR-MORE", "HAS-COUNT"]


def test_numbers_groups_and_answers_have_names_of_their_own():
    rows = [*CAT_ON_BED, Row("GroupByImages", (), (2,)), Row("KeepIfValuesCountEq", (2,), (3,)), Row("Count", (), (4,))]
    grouped = question(rows, "3")
    assert held(grouped) == ["ANS-NUM", "HAS-COUNT", "HAS-GROUPBY", "HAS-NUM", "HAS-NUM-2"]
    same = question([Row("Find", ("cat",)), Row("AllSame", ("color",), (0,))])
    assert held(same) == ["HAS-QUANT", "HAS-QUANT-ALL", "HAS-SAMEATTR", "HAS-SAMEATTR-color"]
    color = [Row("Find", ("cat",)), Row("Unique", (), (0,)), Row("QueryAttribute", ("color",), (1,))]
    assert held(question(color, "red")) == ["ANS-ATTR"]  # what is asked for is no group that is compared


def test_structures_of_the_subgraph_count():
    what = [Row("Find", ("man",)), Row("Unique", (), (0,)), Row("QueryName", (), (1,))]
    assert held(question(what, "man", SOUP)) == ["ANS-NOUN", "RM", "RM/V/C"]
    assert held(question(what, "man", make("man"))) == ["ANS-NOUN"]


def test_only_the_questions_that_are_asked_for_are_read(tmp_path):
    program = to_json([Row("Find", ("cat",)), Row("Count", (), (0,))])
    row = {"template": "COUNT", "answer": "2", "program": program, "tree": CAT.json(), "properties": None}
    rows = [row | {"question_id": f"q{number}"} for number in range(3)]
    rows.append(row | {"question_id": "broken", "program": "no program"})
    tables.write(tmp_path / "dataset.parquet", DATASET, [dict.fromkeys(DATASET.fields.names) | row for row in rows])
    found = properties_of(tmp_path / "dataset.parquet", pa.array(["q1"])).to_pylist()
    assert found == [{"question_id": "q1", "property": name} for name in ("ANS-NUM", "HAS-COUNT")]
    assert properties_of(tmp_path / "dataset.parquet", pa.array([], pa.string())).to_pylist() == []
