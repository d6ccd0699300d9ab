"""Properties by example: programs in the paper's templates, and which properties they have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.covr.language import LANGUAGE
from compvqa.covr.properties import PROPERTIES, Question, named, predicate
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, make
from compvqa.errors import InputError
from compvqa.programs.rows import Row, to_json


class Groups:
    def group(self, attribute: str) -> str | None:
        return {"red": "color", "wooden": "material"}.get(attribute)


def find(noun: str, attribute: str | None = None) -> list[Row]:
    rows = [Row("Find", (noun,))]
    return rows if attribute is None else [*rows, Row("Filter", (attribute,), (0,))]


def on(*rows: Row, start: list[Row]) -> list[Row]:
    """``rows`` put below ``start``, the first depending on its last row, each next on the one before."""
    program = list(start)
    for row in rows:
        program.append(Row(row.operation, row.arguments, row.dependencies or (len(program) - 1,)))
    return program


STANDING = (Row("Scene"), Row("Filter", ("standing",), (0,)), Row("Exists", (), (1,)))
CAT_ON_BED = [Row("Find", ("cat",)), Row("Find", ("bed",)), Row("WithRelation", ("on",), (0, 1))]
TWO_COUNTS = [Row("Find", ("cat",)), Row("Count", (), (0,)), Row("Find", ("dog",)), Row("Count", (), (2,))]
PROGRAMS = {
    "all": on(Row("All", (STANDING,)), start=find("dog")),
    "some on": on(Row("Some", (STANDING,)), start=CAT_ON_BED),
    "no red": on(Row("None", (STANDING,)), start=find("dog", "red")),
    "same color": on(Row("AllSame", ("color",)), start=find("dog")),
    "more": [*TWO_COUNTS, Row("gt", (), (1, 3))],
    "as many": [*TWO_COUNTS, Row("eq", (), (1, 3))],
    "exactly 3": on(Row("Count"), Row("eq", (3,)), start=find("dog")),
    "images with 2": on(Row("GroupByImages"), Row("KeepIfValuesCountEq", (2,)), Row("Count"), start=CAT_ON_BED),
    "both": [
        *(Row("Find", ("cat",)), Row("Exists", (), (0,)), Row("Find", ("dog",)), Row("Exists", (), (2,))),
        Row("And", (), (1, 3)),
    ],
    "how many red": on(Row("Count"), start=find("dog", "red")),
    "which color": on(Row("Unique"), Row("QueryAttribute", ("color",)), start=find("dog", "wooden")),
    "red or blue": on(Row("Unique"), Row("ChooseAttribute", ("red", "blue")), start=find("dog")),
    "what": on(Row("Unique"), Row("QueryName"), start=CAT_ON_BED),
    "same material": [
        *(Row("Find", ("cat",)), Row("Unique", (), (0,)), Row("QueryAttribute", ("material",), (1,))),
        *(Row("Find", ("dog",)), Row("Unique", (), (3,)), Row("QueryAttribute", ("material",), (4,))),
        Row("eq", (), (2, 5)),
    ],
}
HOLDS = {
    "HAS-QUANT": {"all", "some on", "no red", "same color"},
    "HAS-QUANT-ALL": {"all", "same color"},
    "HAS-QUANT-SOME": {"some on"},
    "HAS-QUANT-NONE": {"no red"},
    "HAS-QUANT-COMPSCOPE": {"some on", "no red"},
    "HAS-COMPAR": {"more", "as many"},
    "HAS-COMPAR-MORE": {"more"},
    "HAS-COMPAR-LESS": set(),
    "HAS-COMPAR-SAME": {"as many"},
    "HAS-GROUPBY": {"images with 2"},
    "HAS-LOGIC": {"both"},
    "HAS-LOGIC-AND": {"both"},
    "HAS-LOGIC-OR": set(),
    "HAS-NUM": {"exactly 3", "images with 2"},
    "HAS-NUM-3": {"exactly 3"},
    "HAS-COUNT": {"more", "as many", "exactly 3", "images with 2", "how many red"},
    "HAS-ATTR": {"no red", "how many red", "which color"},
    "HAS-ATTR-RED": {"no red", "how many red"},
    "HAS-ATTR-COLOR": {"no red", "how many red"},
    "HAS-SAMEATTR": {"same color", "same material"},
    "HAS-SAMEATTR-COLOR": {"same color"},
    "ANS-ATTR": {"which color", "red or blue"},
    "ANS-NOUN": {"what"},
    "LEXICAL-bed": {"some on", "images with 2", "what"},
    "LEXICAL-on": {"some on", "images with 2", "what"},
    "LEXICAL-standing": {"all", "some on", "no red"},
    "LEXICAL-color": set(),  # a group is not a name
    "LEXICAL-blue": {"red or blue"},
    "LEXICAL-the answer": {"which color", "what"},
    "HAS-COUNT and HAS-ATTR": {"how many red"},
    "HAS-NUM-3 or HAS-GROUPBY": {"exactly 3", "images with 2"},
    "HAS-QUANT and not HAS-QUANT-ALL": {"some on", "no red"},
    "HAS-QUANT and not (HAS-QUANT-ALL or HAS-ATTR)": {"some on"},
    '"LEXICAL-the answer" and HAS-ATTR': {"which color"},
}


def question(program: list[Row] | None = None, template="COUNT", answer="the answer", g=None) -> Question:
    return Question(template, answer, to_json(program or PROGRAMS["all"]), (g or make("dog")).json(), Groups())


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_examples_are_programs(name):
    LANGUAGE.check(PROGRAMS[name])


@pytest.mark.parametrize("expression", HOLDS)
def test_properties_of_programs(expression):
    quoted = expression if " " not in expression or '"' in expression or "HAS" in expression else f'"{expression}"'
    holds = predicate(quoted)
    assert {name for name, program in PROGRAMS.items() if holds(question(program))} == HOLDS[expression]


def test_structures_of_subgraphs():
    plain = make("cat", "red", (Edge("on", make("bed", "blue")),))
    v = make("cat", None, (Edge("on", make("bed")), Edge("near", make("dog"))))
    chain = make("cat", None, (Edge("on", plain),))
    modified = make("man", None, (Edge("eating", make("soup"), (Modifier("with", "spoon"),)),))
    graphs = {"plain": plain, "v": v, "chain": chain, "modified": modified}
    found = {
        name: {label for label, g in graphs.items() if named(name)(question(g=g))}
        for name in ("RM/V/C", "RM", "V", "C")
    }
    assert found == {"RM/V/C": {"v", "chain", "modified"}, "RM": {"modified"}, "V": {"v"}, "C": {"chain"}}


@pytest.mark.parametrize(
    ("name", "answer", "expected"),
    [
        *[("ANS-NUM", "3", True), ("ANS-NUM", "true", False), ("ANS-NUM", "red", False)],
        *[("ANS-3", "3", True), ("ANS-3", "2", False), ("ANS-true", "true", True)],
    ],
)
def test_properties_of_answers(name, answer, expected):
    assert named(name)(question(answer=answer)) is expected


def test_templates_do_not_mind_case():
    assert named("TPL-VERIFYATTR")(question(template="VERIFYATTR"))
    assert not named("TPL-VERIFYATTR")(question(template="CHOOSEATTR"))


@pytest.mark.parametrize(
    "expression",
    [
        *[
            "",
            "HAS-QUANT-MOST",
            "HAS-QUANTS",
            "TPL",
            "ANS-",
            "HAS-NUM-three",
            "HAS-COUNT-1",
            "HAS-COUNT HAS-ATTR",
        ],
        *["HAS-COUNT and", "not", "(HAS-COUNT", "HAS-COUNT)", "and HAS-COUNT", '"LEXICAL-wine', "()"],
    ],
)
def test_what_is_no_property_is_refused_in_one_sentence(expression):
    with pytest.raises(InputError) as refused:
        predicate(expression)
    assert "\n" not in str(refused.value)


def test_every_kind_is_described_and_has_its_own_name():
    assert len({kind.name for kind in PROPERTIES}) == len(PROPERTIES)
    assert all(kind.meaning and kind.form() for kind in PROPERTIES)


truths = st.recursive(
    st.sampled_from([("HAS-QUANT", True), ("HAS-COUNT", False)]),
    lambda inner: st.one_of(
        inner.map(lambda e: (f"not ({e[0]})", not e[1])),
        st.tuples(inner, inner).map(lambda p: (f"({p[0][0]}) and ({p[1][0]})", p[0][1] and p[1][1])),
        st.tuples(inner, inner).map(lambda p: (f"({p[0][0]}) or ({p[1][0]})", p[0][1] or p[1][1])),
        st.lists(inner, min_size=2, max_size=3).map(
            lambda es: (" or ".join(f"({e[0]})" for e in es), any(e[1] for e in es))
        ),
    ),
    max_leaves=6,
)


@given(truths)
def test_expressions_mean_what_logic_says(expression_and_truth):
    expression, truth = expression_and_truth
    assert predicate(expression)(question(PROGRAMS["all"])) is truth
