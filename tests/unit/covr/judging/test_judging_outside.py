"""Sixty claims about five pictures, true, wrong and ambiguous ones, written by hand with why they are so."""

import json
from collections import Counter
from pathlib import Path

import pytest
import typer
from scipy.stats import norm
from typer.testing import CliRunner

from compvqa.covr.cli.judging import judge
from compvqa.covr.judging.outside import AMBIGUOUS, TRUE, WRONG, World, judge_file, shares
from compvqa.covr.questions.references import condition_rows, rows
from compvqa.covr.subgraphs.subgraph import Edge, Subgraph, make
from compvqa.errors import InputError
from compvqa.files import write_json
from compvqa.programs.rows import Row, to_json
from compvqa.scenes.graph import Object, Relation, SceneGraph, without
from unit.covr.subgraphs.graph_worlds import write_scenes

COLORS = dict.fromkeys(("red", "blue", "brown", "black", "white"), "color")


def scene(name: str, things: dict[str, str], *relations: tuple[str, str, str]) -> SceneGraph:
    """A scene of things, each by its words: attributes and then the noun."""
    objects = {}
    for key, said in things.items():
        *attributes, noun = said.split()
        objects[key] = Object(key, noun, {a: COLORS.get(a) for a in attributes})
    return SceneGraph(name, objects, tuple(Relation(how, one, other) for one, how, other in relations))


COMPLETE = [
    scene("p1", {"a": "tall man", "b": "short man", "c": "red cup"}, ("a", "holding", "c")),
    scene("p2", {"a": "brown dog", "b": "red ball", "c": "small cat"}, ("a", "chasing", "b")),
    scene("p3", {"a": "woman", "b": "brown white bench"}, ("a", "sitting", "b")),
    scene("p4", {"a": "small cat", "b": "table"}, ("a", "under", "b")),
    scene("p5", {"a": "black dog", "b": "blue kite"}),
]
# nobody saw the short man, the cat under the table, that the woman sits and that the kite is blue …
MISSING = [
    without(COMPLETE[0], {"b"}),
    COMPLETE[1],
    SceneGraph("p3", COMPLETE[2].objects),
    without(COMPLETE[3], {"a"}),
    scene("p5", {"a": "black dog", "b": "kite"}),
]
# … and the ball was taken for a blue one
ANNOTATED = [
    MISSING[0],
    scene("p2", {"a": "brown dog", "b": "blue ball", "c": "small cat"}, ("a", "chasing", "b")),
    *MISSING[2:],
]
LEXICON = {
    "nouns": {"man": {"hypernyms": ["person"]}, "woman": {"hypernyms": ["person"]}, "person": {}, "horse": {}},
    "attributes": {name: {"group": group} for name, group in COLORS.items()},
    "relations": {},
}


def count(g: Subgraph) -> list[Row]:
    return [*rows(g), Row("Count", (), (len(rows(g)) - 1,))]


def images(g: Subgraph) -> list[Row]:
    return [*rows(g), Row("UniqueImages", (), (len(rows(g)) - 1,)), Row("Count", (), (len(rows(g)),))]


def there(g: Subgraph) -> list[Row]:
    return [*rows(g), Row("Exists", (), (len(rows(g)) - 1,))]


def the(g: Subgraph, operation: str, *names: str) -> list[Row]:
    return [*rows(g), Row("Unique", (), (len(rows(g)) - 1,)), Row(operation, names, (len(rows(g)),))]


def of(noun: str, quantifier: str, attribute: str) -> list[Row]:
    return [Row("Find", (noun,)), Row(quantifier, (condition_rows(attribute, ()),), (0,))]


def holds(g: Subgraph, *places: int) -> dict:
    return {"subgraph": json.loads(g.json()), "in": list(places)}


def many(g: Subgraph, n: int) -> dict:
    return {"subgraph": json.loads(g.json()), "count": n}


MAN, PERSON, DOG, CAT, BALL, KITE = map(make, ("man", "person", "dog", "cat", "ball", "kite"))
HOLDING = make("man", None, (Edge("holding", make("cup")),))
CHASING = make("dog", None, (Edge("chasing", BALL),))
SITTING = make("woman", None, (Edge("sitting", make("bench")),))
UNDER = make("cat", None, (Edge("under", make("table")),))
ALL = "p1 p2 p3 p4 p5"
HERE, NARROW, NOBODY, SECOND = "missing", "overlapping names", "not by the annotations", "other instances"

CLAIMS = [  # images, answer, program or claim, verdict, cause
    # the things that are there, and are annotated
    ("p1 p2", "1", count(DOG), TRUE, ""),
    (ALL, "2", count(DOG), TRUE, ""),
    (ALL, "3", count(DOG), WRONG, NOBODY),
    ("p1 p3", "0", count(DOG), TRUE, ""),
    ("p2 p5", "2", images(DOG), TRUE, ""),
    ("p2 p5", "1", images(DOG), WRONG, NOBODY),
    ("p1 p2", "true", there(CHASING), TRUE, ""),
    ("p1 p5", "yes", there(CHASING), WRONG, NOBODY),
    ("p1 p5", "No", there(CHASING), TRUE, ""),
    ("p1 p2", "true", there(HOLDING), TRUE, ""),
    ("p2 p5", "black", the(make("dog", "black"), "QueryAttribute", "color"), TRUE, ""),
    ("p1 p2", "brown", the(DOG, "QueryAttribute", "color"), TRUE, ""),
    ("p1 p2", "black", the(DOG, "QueryAttribute", "color"), WRONG, NOBODY),
    ("p1 p2", "true", the(DOG, "VerifyAttribute", "brown"), TRUE, ""),
    ("p1 p5", "true", the(DOG, "VerifyAttribute", "brown"), WRONG, NOBODY),
    ("p1 p5", "black", the(DOG, "ChooseAttribute", "black", "brown"), TRUE, ""),
    ("p2 p5", "false", of("dog", "All", "brown"), TRUE, ""),
    ("p2 p5", "true", of("dog", "Some", "brown"), TRUE, ""),
    ("p2 p5", "true", of("dog", "None", "brown"), WRONG, NOBODY),
    ("p2 p1", "dog", the(CHASING, "QueryName"), TRUE, ""),
    ("p2 p1", "cat", the(CHASING, "ChooseName", "cat", "dog"), WRONG, NOBODY),
    # the second man
    ("p1 p2", "1", count(MAN), WRONG, SECOND),
    ("p1 p2", "2", count(MAN), TRUE, ""),
    ("p1 p2", "3", count(MAN), WRONG, NOBODY),
    ("p1 p2", "1", images(MAN), TRUE, ""),
    ("p1 p2", "true", the(MAN, "VerifyAttribute", "tall"), AMBIGUOUS, "not unique"),
    ("p1 p2", "true", the(HOLDING, "VerifyAttribute", "tall"), TRUE, ""),
    ("p1 p2", "true", of("man", "All", "tall"), WRONG, SECOND),
    ("p1 p2", "true", of("man", "Some", "short"), TRUE, ""),
    # people
    ("p1 p3", "3", count(PERSON), TRUE, ""),
    ("p1 p3", "0", count(PERSON), AMBIGUOUS, NARROW),
    ("p3 p4", "false", there(PERSON), AMBIGUOUS, NARROW),
    ("p3 p4", "true", there(PERSON), TRUE, ""),
    ("p2 p4", "false", there(PERSON), TRUE, ""),
    ("p3 p4", "2", count(PERSON), WRONG, NOBODY),
    # the cat under the table
    ("p4 p5", "0", count(CAT), WRONG, HERE),
    ("p4 p5", "1", count(CAT), TRUE, ""),
    ("p2 p4", "1", count(CAT), WRONG, HERE),
    ("p4 p1", "false", there(UNDER), WRONG, HERE),
    ("p4 p1", "true", there(UNDER), TRUE, ""),
    ("p2 p4", "true", the(CAT, "VerifyAttribute", "small"), AMBIGUOUS, "not unique"),
    ("p3 p5", "true", the(CAT, "VerifyAttribute", "small"), WRONG, "nothing there"),
    # that the woman sits, and that the kite is blue
    ("p3 p1", "false", there(SITTING), WRONG, HERE),
    ("p3 p1", "true", there(SITTING), TRUE, ""),
    ("p5 p1", "false", the(KITE, "VerifyAttribute", "blue"), WRONG, HERE),
    ("p5 p1", "blue", the(KITE, "QueryAttribute", "color"), TRUE, ""),
    ("p5 p1", "true", of("kite", "None", "blue"), WRONG, HERE),
    # the ball that is red
    ("p2 p1", "blue", the(BALL, "QueryAttribute", "color"), WRONG, "wrong"),
    ("p2 p1", "red", the(BALL, "QueryAttribute", "color"), TRUE, ""),
    ("p2 p1", "0", count(make("ball", "red")), WRONG, "wrong"),
    ("p2 p1", "white", the(BALL, "QueryAttribute", "color"), WRONG, NOBODY),
    # what has two colours, and none of the two
    ("p3 p1", "brown", the(make("bench"), "QueryAttribute", "color"), AMBIGUOUS, "two values in one group"),
    ("p3 p1", "white", the(make("bench"), "ChooseAttribute", "white", "brown"), AMBIGUOUS, "both choices hold"),
    ("p3 p1", "red", the(make("bench"), "ChooseAttribute", "red", "blue"), WRONG, "no such choice"),
    ("p1 p3", "true", of("horse", "All", "brown"), WRONG, "empty scope"),
    # which images hold it, and how many
    ("p2 p5 p1", "", holds(DOG, 1, 2), TRUE, ""),
    ("p2 p5 p1", "", holds(DOG, 1), WRONG, NOBODY),
    ("p4 p2 p1", "", holds(CAT, 2), WRONG, HERE),
    ("p1 p3", "", holds(PERSON, 1), AMBIGUOUS, NARROW),
    ("p1 p2", "", many(HOLDING, 1), TRUE, ""),
]


def which(g: Subgraph, how: str, place: int) -> dict:
    return {"subgraph": json.loads(g.json()), how: place}


def says(rows_: list[Row], answer: str, **rest: object) -> dict:
    return {"program": json.loads(to_json(rows_)), "answer": answer, **rest}


HIGH = make("man", "tall")
ONE_IMAGE = [  # images, claim, verdict, cause
    # which image has a dog, or none
    ("p1 p2", which(DOG, "only", 2), TRUE, ""),
    ("p1 p2", which(DOG, "only", 1), WRONG, NOBODY),
    ("p2 p5", which(DOG, "only", 1), AMBIGUOUS, "not unique"),
    ("p2 p4", which(CAT, "only", 1), AMBIGUOUS, "not unique"),  # nobody saw the other one
    ("p1 p2", which(make("ball", "blue"), "only", 2), WRONG, "wrong"),
    ("p1 p2", which(DOG, "but", 1), TRUE, ""),
    ("p4 p2", which(CAT, "but", 1), WRONG, HERE),
    ("p1 p3 p2", which(DOG, "but", 1), AMBIGUOUS, "not unique"),
    ("p3 p1", which(PERSON, "but", 2), AMBIGUOUS, NARROW),
    # which has most of them, or fewest
    ("p1 p3", which(PERSON, "most", 1), TRUE, ""),
    ("p1 p3", which(PERSON, "most", 2), WRONG, NOBODY),
    ("p1 p3", which(PERSON, "least", 2), TRUE, ""),
    ("p2 p5", which(DOG, "most", 1), AMBIGUOUS, "not unique"),
    ("p4 p2", which(CAT, "least", 1), AMBIGUOUS, "not unique"),
    ("p2 p3", which(make("ball", "blue"), "most", 1), WRONG, "wrong"),  # it is red: there is none
    # all of several claims, and that nothing else is an answer
    ("p1 p2", [holds(MAN, 1), says(there(DOG), "true", at=2)], TRUE, ""),
    ("p1 p2", [holds(MAN, 1), says(there(DOG), "yes", at=1)], WRONG, NOBODY),
    ("p1 p2", [says(there(HIGH), "true"), says(there(DOG), "false", alone=True)], AMBIGUOUS, "not unique"),
    ("p1 p2", [says(there(DOG), "false", alone=True), says(there(HIGH), "false")], WRONG, NOBODY),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("outside")
    write_scenes(root / "mine/scenes", ANNOTATED)
    write_scenes(root / "truth/complete", COMPLETE)
    write_scenes(root / "truth/missing_only", MISSING)
    write_json(root / "mine/lexicon.json", LEXICON)
    lines = []
    for number, (shown, answer, asked, *_) in enumerate(CLAIMS):
        line = {"question_id": f"c{number:02d}", "text": f"claim {number}", "images": shown.split(), "answer": answer}
        claim = {"claim": asked} if isinstance(asked, dict) else {"program": json.loads(to_json(asked))}
        lines.append(line | claim | {"template": "claims" if "claim" in claim else "programs"})
    (root / "claims.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return root


@pytest.fixture(scope="module")
def world(root) -> World:
    return World.load(root / "mine/scenes", root / "truth", root / "mine/lexicon.json")


def test_sixty_claims_are_told_as_those_who_wrote_them_do(root, world):
    judged = judge_file(root / "claims.jsonl", world)
    assert len(judged) == len(CLAIMS) == 60
    told = {row["question_id"]: (row["verdict"], row["cause"]) for row in judged}
    assert told == {f"c{number:02d}": tuple(claim[3:]) for number, claim in enumerate(CLAIMS)}
    assert {row["question_id"] for row in judged if row["valid"]} == {
        name for name, (v, _) in told.items() if v == TRUE
    }


def test_claims_of_one_image_are_ambiguous_where_others_are_as_right(tmp_path, world):
    lines = [{"text": "Which?", "images": shown, "claim": claim} for shown, claim, *_ in ONE_IMAGE]
    (tmp_path / "which.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = [(row["verdict"], row["cause"]) for row in judge_file(tmp_path / "which.jsonl", world)]
    assert told == [tuple(claim[2:]) for claim in ONE_IMAGE]


@pytest.mark.parametrize(
    "claim",
    [
        [],
        [3],
        {"subgraph": ["man", None, []]},
        {"subgraph": ["man", None, []], "only": 2},
        {"subgraph": ["man", None, []], "only": [1]},
        {"subgraph": ["man", None, []], "only": 1, "count": 1},
        {"subgraph": ["man", None, []], "only": 1, "at": 1},
        {"subgraph": ["man", None, []], "count": "1"},
        {"program": [["Find", ["man"], []]]},
        {"program": [["Find", ["man"], []], ["Count", [], [0]]], "answer": "1", "at": 0},
        {"program": [["Find", ["man"], []], ["Count", [], [0]]], "answer": "1", "alone": 1},
        {"program": [["Find", ["man"], []], ["Count", [], [0]]], "answer": "1", "only": 1},
    ],
)
def test_what_is_no_claim_is_named_by_its_line(tmp_path, world, claim):
    file = tmp_path / "theirs.jsonl"
    file.write_text(json.dumps({"text": "t", "images": ["p1"], "claim": claim}))
    with pytest.raises(InputError, match="theirs.jsonl, line 1: the claim"):
        judge_file(file, world)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"count": -1}, r"\(count is -1, and none but a whole number from 0 on can be one\): give"),
        ({"count": "2"}, r"\(count is '2', and none but"),
        ({"only": 2}, r"\(there is no image at the place 2, only from 1 to 1\): give"),
        ({"only": 1, "count": 1}, r"\(a claim about a subgraph says one thing of it\): give"),
    ],
)
def test_why_something_is_no_claim_is_told_where_it_is_known(tmp_path, world, said, why):
    claim = {"subgraph": ["man", None, []], **said}
    (tmp_path / "theirs.jsonl").write_text(json.dumps({"text": "t", "images": ["p1"], "claim": claim}))
    with pytest.raises(InputError, match=rf"theirs\.jsonl, line 1: the claim .* is none {why}"):
        judge_file(tmp_path / "theirs.jsonl", world)


def test_blanks_around_an_answer_do_not_count(tmp_path, world):
    lines = [
        {"text": "t", "images": ["p1"], "answer": said, "program": json.loads(to_json(there(MAN)))}
        for said in ("TRUE", "TRUE ")
    ]
    (tmp_path / "theirs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert [row["verdict"] for row in judge_file(tmp_path / "theirs.jsonl", world)] == [TRUE, TRUE]


def test_numbers_and_names_are_read_however_they_are_written(tmp_path, world):
    number, name = json.loads(to_json(count(MAN))), json.loads(NAMED)
    asked = [("1", number), ("01", number), ("man", name), ("Man", name)]
    lines = [{"text": "t", "images": ["p1"], "answer": said, "program": program} for said, program in asked]
    (tmp_path / "theirs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    verdicts = [row["verdict"] for row in judge_file(tmp_path / "theirs.jsonl", world)]
    assert verdicts[0] == verdicts[1] and verdicts[2] == verdicts[3]


def test_shares_have_wilsons_interval_and_add_up(root, world):
    """Where no two questions have an image in common; else it is wider."""
    together = judge_file(root / "claims.jsonl", world)
    judged = [row | {"images": f"image{number}"} for number, row in enumerate(together)]
    found = {(template, verdict, cause): rest for template, verdict, cause, *rest in shares(judged)}
    counts = Counter(claim[3] for claim in CLAIMS)
    z, n = norm.ppf(0.975), 60
    for verdict, k in counts.items():
        middle, half = (k + z**2 / 2) / (n + z**2), z * (k * (n - k) / n + z**2 / 4) ** 0.5 / (n + z**2)
        assert found["", verdict, ""] == [k, 60, pytest.approx(middle - half), pytest.approx(middle + half)]
        causes = [
            rest[0]
            for (template, of_verdict, cause), rest in found.items()
            if not template and cause and of_verdict == verdict
        ]
        assert sum(causes) == (0 if verdict == TRUE else k)
    assert found["claims", TRUE, ""][:2] == [2, 5] and found["programs", TRUE, ""][1] == 55
    wider = {(template, verdict, cause): rest for template, verdict, cause, *rest in shares(together)}
    for verdict in counts:
        (low, high), (lower, higher) = (told["", verdict, ""][2:] for told in (found, wider))
        assert lower < low and high < higher


NAMED = '[["Find", ["man"], []], ["Unique", [], [0]], ["QueryName", [], [1]]]'
GOOD = '{"text": "t", "images": ["p1"], "answer": "1", "program": [["Find", ["man"], []], ["Count", [], [0]]]}\n'


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('"t"', '""'), "line 2: there is no text"),
        (('["p1"]', '["p9"]'), "line 2: the test-bed has no image or scene 'p9'"),
        (('["p1"]', '["p9"]'), r"line 2: .*; name them as its scenes/scenes\.parquet does, such as p1\."),
        (('["p1"]', '["p1", "p2", "p1"]'), "line 2: the image 'p1' is there twice; name each once"),
        (('["p1"]', "[]"), "line 2: images are"),
        (('"1"', '"-1"'), "line 2: the answer is '-1'; the program gives a number, 0 or more"),
        (('["p1"]', "[3]"), "line 2: images are"),
        (('"1"', '"many"'), "line 2: the answer is 'many'; the program gives a number"),
        (('"1"', '"²"'), "line 2: the answer is '²'; the program gives a number"),
        (
            ('"1", "program": [["Find", ["man"], []], ["Count", [], [0]]]', f'"flurb", "program": {NAMED}'),
            "line 2: nothing of the world is called 'flurb'; use its names",
        ),
        (('"man"', '"unicorn"'), "line 2: no noun of the world is called 'unicorn'"),
        (('"Count"', '"Weigh"'), "line 2: the program is none of COVR's language .*no operator 'Weigh'"),
        (("[0]]]", "[7]]]"), "line 2: the program is none of COVR's language"),
        (('[["Find", ["man"], []], ["Count", [], [0]]]', '"(("'), "line 2: the program .* is no JSON"),
        (('[["Find", ["man"], []], ["Count", [], [0]]]', "[3]"), "line 2: .* is no program"),
        (('"program": [["Find", ["man"], []], ["Count", [], [0]]]', '"claim": {"count": 1}'), "line 2: the claim"),
        (
            (
                '"program": [["Find", ["man"], []], ["Count", [], [0]]]',
                '"claim": {"subgraph": ["man", null, []], "in": [2]}',
            ),
            "line 2: the claim",
        ),
        ((', "program": [["Find", ["man"], []], ["Count", [], [0]]]', ""), "line 2: give a program or a claim"),
        (("}\n", ', "question_id": "00000001"}\n'), "line 2: question_id 00000001 came before"),
    ],
)
def test_what_cannot_be_judged_is_named_by_its_line(tmp_path, world, change, words):
    file = tmp_path / "theirs.jsonl"
    assert change[0] in GOOD
    file.write_text(GOOD + GOOD.replace(*change))
    with pytest.raises(InputError, match=f"theirs.jsonl, {words}"):
        judge_file(file, world)


def test_a_file_without_questions_is_refused(tmp_path, world):
    (tmp_path / "none.csv").write_text("text,images\n")
    with pytest.raises(InputError, match="has no questions"):
        judge_file(tmp_path / "none.csv", world)


def test_templates_are_printed_as_they_are_called(root, tmp_path):
    line = GOOD.replace('"t"', '"t", "template": "[/red]"')
    (tmp_path / "[red]a.jsonl").write_text(line + GOOD.replace('"t"', '"u", "template": "[bold]x"'))
    app = typer.Typer()
    app.command()(judge)
    named = [str(tmp_path / "[red]a.jsonl"), "--testbed", str(root / "mine"), "--truth", str(root / "truth")]
    told = CliRunner().invoke(app, named, catch_exceptions=False).output
    assert all(name in told for name in ("[red]a.jsonl", "[/red]", "[bold]x"))


def test_the_command_says_and_writes_what_it_finds(root, tmp_path):
    program = to_json(count(MAN)).replace('"', '""')
    (tmp_path / "a.csv").write_text(f'text,images,answer,program\nHow many men?,p1 p2,2,"{program}"\n')
    named = [str(tmp_path / "a.csv"), "--testbed", str(root / "mine"), "--truth", str(root / "truth")]
    app = typer.Typer()
    app.command()(judge)
    whole = CliRunner().invoke(app, [str(root / "claims.jsonl"), *named[1:]], catch_exceptions=False)
    counts = Counter(claim[3] for claim in CLAIMS)
    assert "in 60, " + ", ".join(f"{v} {counts[v]}" for v in (TRUE, WRONG, AMBIGUOUS)) in whole.output + whole.stderr
    found = CliRunner().invoke(app, [*named, "--out", str(tmp_path / "told.csv")], catch_exceptions=False)
    assert found.exit_code == 0 and "1 of 1" in found.output
    head, line = (tmp_path / "told.csv").read_text().splitlines()
    told = dict(zip(head.replace('"', "").split(","), line.replace('"', "").split(","), strict=True))
    assert (told["verdict"], told["valid"], told["truth_answer"]) == ("true", "true", "2")
