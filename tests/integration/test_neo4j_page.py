"""The queries of docs/neo4j.md answer on a server what DuckDB answers from the tables."""

import sys
from pathlib import Path

import pytest

from compvqa.covr.explore.testbed import WholeTestbed, drop
from compvqa.covr.subgraphs.search.neo4j.bolt import connect
from compvqa.covr.subgraphs.search.neo4j.loading import Loaded
from compvqa.covr.subgraphs.search.neo4j.parts import graph_id
from fixtures.joined import asked_of, joined
from fixtures.small_testbed import RUN, SPLIT, small_testbed

pytestmark = [pytest.mark.xdist_group("neo4j"), pytest.mark.usefixtures("server")]
GRAPH = "What does a question's graph look like?"
HELD = f"name = '{SPLIT}'"
SPLIT_ROWS = "split_rows where name = $split"
RIGHT = "(select question_id, run, trained_on, correct from answers where text = 'generated')"
SHARED_OBJECTS = """(
    select o.question_id, count(*)::int as objects from focus f join focus o using (scene_id, object_id)
    where f.question_id = $question and o.question_id <> $question group by all)"""
# For each query of the page, the same in SQL.
ORACLES = {
    "Do train and test share images?": f"""
        with seen as (select distinct part, image from (from {SPLIT_ROWS}) join about using (question_id)
            join scenes using (scene_id))
        select a.part, b.part as other, count(*) as images from seen a join seen b using (image) where a.part < b.part
        group by all order by all""",
    "Which test questions are about an image of train?": f"""
        with seen as (select question_id, part, image from (from {SPLIT_ROWS}) join about using (question_id)
            join scenes using (scene_id))
        select question_id, q.text, list(distinct image) as images from seen join questions q using (question_id)
        where seen.part in ('test', 'test_comp') and image in (select image from seen where part = 'train')
        group by all order by question_id""",
    "Which held-out compounds fail most?": f"""
        select name as held_out, run, count(*) as n, avg(correct::int) as accuracy from {RIGHT}
        join split_rows using (question_id) where part = 'test_comp' and trained_on in ('iid', name)
        group by all order by accuracy, held_out, run""",
    "Do pairs of names fail that train hardly has?": f"""
        with pairs as (select question_id, a.name as one, b.name as two from names a join names b using (question_id)
            where a.name < b.name),
        counted as (select one, two, count(*) filter (part = 'train') as in_train, count(correct) as n,
                coalesce(sum(correct::int), 0) as good
            from (select question_id, part from {SPLIT_ROWS} and part in ('train', 'test_comp'))
            join pairs using (question_id) left join (from {RIGHT} where run = $run) using (question_id) group by all)
        select one, two, in_train, n, good / n as accuracy from counted where n >= 5
        order by in_train, one, two limit 8""",
    "Which images serve as distractors of many questions?": """
        select scene_id, count(*) as questions, count(distinct template) as templates
        from about join questions using (question_id) where not contains group by all
        order by questions desc, scene_id limit 8""",
    "How well does train support a property?": f"""
        select template, count(*) as questions, count(*) filter (question_id in
            (select question_id from properties where property = $property)) as with_property
        from questions where question_id in (select question_id from {SPLIT_ROWS} and part = 'train')
        group by all order by template""",
    "Which questions do all models get wrong?": """
        select template, q.text, q.answer, list_sort(list(distinct a.answer)) as given, count(*) as models
        from answers a join questions q using (question_id) where a.text = 'generated'
        group by question_id, template, q.text, q.answer having count(*) >= 3 and not bool_or(correct)
        order by models desc, template, q.text, question_id limit 8""",
    "In which scenes are two objects so related?": """
        with found as (select distinct r.scene_id from relations r
            join objects a on a.scene_id = r.scene_id and a.object_id = r.subject_id
            join objects b on b.scene_id = r.scene_id and b.object_id = r.object_id
            where a.name = $subject and r.name = $relation and b.name = $object)
        select scene_id, split, (select count(*) from about where about.scene_id = s.scene_id) as questions
        from found join scenes s using (scene_id) order by questions desc, scene_id limit 8""",
    "How are answers distributed?": """
        with counted as (select template, answer, count(*) as n from questions group by all)
        select template, sum(n)::int as questions, count(*) as different,
            list(answer || ': ' || n order by n desc, answer)[:5] as most_frequent
        from counted group by template order by template""",
    "How many questions are about scenes of one source?": """
        with counted as (select question_id, count(*) as scenes, count(*) filter (source = $source) as mine
            from about join scenes using (scene_id) group by all)
        select part, count(*) as questions, count(*) filter (mine > 0) as any_scene,
            count(*) filter (mine = scenes) as all_scenes
        from counted join questions using (question_id) group by all order by part""",
    "Which train questions come nearest to a test question?": f"""
        with near as (select question_id, text,
            (select count(*) from names n where n.question_id = q.question_id
                and name in (select name from names where question_id = $question)) as names,
            (select count(*) from properties p where p.question_id = q.question_id
                and property in (select property from properties where question_id = $question)) as properties
            from questions q where question_id in (select question_id from {SPLIT_ROWS} and part = 'train'))
        from near order by names + properties desc, names desc, question_id limit 5""",
    "What else is asked about the same objects?": f"""
        select question_id, q.text, q.answer, objects, count(run) as answered,
            coalesce(sum(correct::int), 0)::int as right
        from {SHARED_OBJECTS} join questions q using (question_id) left join {RIGHT} using (question_id)
        group by all order by objects desc, question_id limit 5""",
    "Is it harder to look at more objects?": f"""
        with counted as (select correct, (select count(*) from focus f where f.question_id = r.question_id) as objects
            from {RIGHT} r where run = $run)
        select objects, count(*) as n, avg(correct::int) as accuracy from counted group by all order by objects""",
}


@pytest.fixture(scope="module")
def page(root):
    """The module that reads docs/neo4j.md, and the page."""
    sys.path.insert(0, str(root / "docs"))
    import neo4j_page

    sys.path.remove(str(root / "docs"))
    return neo4j_page, neo4j_page.PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def loaded(server, root, tmp_path_factory):
    """A small test-bed on the server and in DuckDB, and parameters for the page's queries."""
    made = small_testbed(tmp_path_factory.mktemp("testbed"), root / "config/templates/covr")
    graph = graph_id(made.scenes)
    bed = WholeTestbed(graph, made.scenes, made.dataset, [made.splits], [made.predictions])
    with connect(10) as client:
        Loaded(client, made.scenes, 1000)
        bed.load(client, 200)
        db = joined(made)
        most = f"""select question_id from focus join (from split_rows where {HELD} and part = 'test_comp')
            using (question_id) group by question_id order by count(*) desc, question_id limit 1"""
        [[question]] = db.sql(most).fetchall()
        given = {"dataset": bed.dataset, "graph": graph, "split": SPLIT, "run": RUN, "question": question}
        given |= {"property": "HAS-COUNT", "source": "from-val"}
        given |= {"subject": "boy", "relation": "wearing", "object": "hat"}
        yield client, given, db
        drop(client, graph)


def test_the_page_s_queries_are_those_tested_here(page):
    module, text = page
    titles = [query.title for query in module.queries(text)]
    assert len(titles) >= 10 and set(titles) == {*ORACLES, GRAPH}


@pytest.mark.parametrize("title", ORACLES)
def test_a_query_of_the_page(page, loaded, title):
    module, text = page
    [query] = [query for query in module.queries(text) if query.title == title]
    client, given, db = loaded
    if title.startswith("Which test questions"):
        given = given | {"split": "leaky"}
    found, expected = client.read(query.cypher, **given), asked_of(db, ORACLES[title], given)
    assert len(expected) >= 2, "nothing to compare"
    assert [*map(plain, found)] == [*map(plain, expected)]


def plain(row: dict) -> dict:
    """A row with numbers to six digits; lists of images, which have no order, are sorted."""
    return {
        name: round(value, 6)
        if isinstance(value, float)
        else sorted(value)
        if name == "images" and type(value) is list
        else value
        for name, value in row.items()
    }


def test_only_a_leaky_split_has_test_questions_about_images_of_train(page, loaded):
    module, text = page
    [query] = [query for query in module.queries(text) if query.title.startswith("Which test questions")]
    client, given, _ = loaded
    assert client.read(query.cypher, **given) == []
    assert client.read(query.cypher, **given | {"split": "iid"}) == []


def test_the_graph_of_a_question(page, loaded):
    """The paths hold exactly the question's scenes, their objects, and the relations between these."""

    def scene(row: dict) -> str:
        return row["about"][2]["scene_id"]

    module, text = page
    [query] = [query for query in module.queries(text) if query.title == GRAPH]
    client, given, db = loaded
    rows = client.read(query.cypher, **given)
    objects = {(scene(row), row["about"][4]["object_id"]) for row in rows}
    focused = {(scene(row), row["focus"][2]["object_id"]) for row in rows if row["focus"]}
    between = {(scene(row), *(row["between"][i]["object_id"] for i in (0, 2)))
               for row in rows if row["between"] and row["between"][1] == "RELATION"}  # fmt: skip
    mine = "(select scene_id from about where question_id = $question)"
    at = {"question": given["question"]}
    assert objects == {
        *db.sql(f"select scene_id, object_id from objects where scene_id in {mine}", params=at).fetchall()
    }
    assert focused == {
        *db.sql("select scene_id, object_id from focus where question_id = $question", params=at).fetchall()
    }
    ends = "select scene_id, subject_id, object_id from relations where scene_id in"
    assert between == {*db.sql(f"{ends} {mine}", params=at).fetchall()}
    assert objects and focused and between


def test_answers_and_picture_are_written_into_the_page(page, loaded, tmp_path):
    module, text = page
    client, given, _ = loaded
    answered = module.answered(text, client, given)
    assert f":param dataset => '{given['dataset']}'" in answered and "| from-val |" not in answered
    assert module.answered(answered, client, given) == answered
    sys.path.insert(0, str(Path(module.__file__).parent))
    from neo4j_picture import draw

    draw(client, given["dataset"], given["question"], {}, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
