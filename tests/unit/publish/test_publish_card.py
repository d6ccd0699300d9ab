"""The hub and its library read the dataset folder by its card; whatever names say, the card shows it as it is."""

import json
import logging

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from datasets import load_dataset
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from compvqa import tables
from compvqa.provenance.sources import Licence, common, licence
from compvqa.publish.card import as_block, as_text, write_card
from compvqa.publish.description import describe, sweep
from compvqa.publish.parquet import publish_questions
from compvqa.publish.settings import PublishSettings
from fixtures.published import PARTS, Published

NASTY = [
    "../../etc",
    "a|b\\|c",
    "`x```y`",
    "</script><b>&amp;",
    "\"quoted\" 'too'",
    "$x^2$ _a_ *b* [c](d) ![e](f)",
    "n" * 10_000,
]
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"])) | st.sampled_from(NASTY)


@pytest.fixture
def published(tmp_path):
    return Published(tmp_path)


def front(published):
    return yaml.safe_load((published.folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])


@pytest.mark.parametrize("name", PARTS)
def test_the_hubs_library_loads_a_split_by_its_name(published, name, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("datasets"), "propagate", True)  # so that its warnings are seen here
    published.finish()
    loaded = load_dataset(str(published.folder), name=name, cache_dir=str(tmp_path / "cache"))
    filled = {part: ids for part, ids in PARTS[name].items() if ids}  # it can not read a file without rows
    assert {part: rows["question_id"][:] for part, rows in loaded.items()} == filled
    assert not caplog.records  # it warns of what it can not use in the card
    for part in filled:
        assert list(loaded[part]) == pq.read_table(published.file(name, part)).to_pylist()


def test_the_split_that_holds_nothing_out_is_the_default(published, tmp_path):
    published.finish()
    loaded = load_dataset(str(published.folder), cache_dir=str(tmp_path / "cache"))
    assert set(loaded) == {"train", "dev", "test"}


def test_the_head_names_licence_and_size(published):
    published.finish(name='A "set": #1')
    head = front(published)
    assert (head["license"], head["size_categories"], head["pretty_name"]) == ("cc-by-4.0", ["n<1K"], 'A "set": #1')
    assert "license_name" not in head


@pytest.mark.parametrize(
    ("stated", "tag"),
    [
        (["CC BY 4.0", "cc-by-4.0"], "cc-by-4.0"),
        (["none stated: research use"] * 2, "other"),
        (["MIT", "none stated: research use"], "other"),
        (["MIT", "unknown"], "unknown"),
        ([], "unknown"),
    ],
)
def test_what_is_made_of_several_sources_has_their_licence_only_if_they_have_one(stated, tag):
    assert common(map(licence, stated)).tag == tag


def test_a_licence_that_the_hub_does_not_know_is_told_in_words(published):
    published.finish(licence="ask my uncle")
    head = front(published)
    assert (head["license"], head["license_name"]) == ("other", "ask my uncle")
    assert licence("ask my uncle") == Licence("ask my uncle")


def tokens(markdown, kind):
    found = MarkdownIt("commonmark").enable("table").parse(markdown)
    return [token for token in found if token.type == kind]


@given(texts)
def test_a_cell_shows_any_name_as_it_is(name):
    rows = f"| a | b |\n|---|---|\n| {as_text(name)} | end |\n"
    cells = [token for token in tokens(rows, "inline") if token.map[0] == 2]
    assert len(cells) == 2
    shown = "".join(child.content for child in cells[0].children or ())
    assert shown == " ".join(name.split())
    assert {child.type for child in cells[0].children or ()} <= {"text", "text_special"}


@given(st.lists(texts, min_size=1).map("\n".join))
def test_a_block_shows_any_text_as_it_is(text):
    (block,) = tokens(as_block(text, "json"), "fence")
    assert block.content == text + "\n"


@pytest.mark.parametrize("name", NASTY)
def test_a_card_with_such_names_keeps_its_form(tmp_path, name):
    published = Published(tmp_path, texts=(name, name, name))
    described = published.finish(name=name, citation=name, organization=name)
    assert front(published)["pretty_name"] == name
    body = (published.folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)[2]
    example, citation = tokens(body, "fence")[1:]
    assert json.loads(example.content) == described.example
    assert citation.content == name + "\n"
    headings = [token for token in tokens(body, "heading_open") if token.tag == "h2"]
    assert len(headings) == 5


def test_a_datasheet_ends_the_card_question_by_question(published, root):
    published.finish(root / "config/datasheets/clevr-hope.yaml")
    body = (published.folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)[2]
    answers = yaml.safe_load((root / "config/datasheets/clevr-hope.yaml").read_text())
    headings = [token.content for token in tokens(body, "inline") if token.level == 1]
    shown = {child.content for token in tokens(body, "inline") for child in token.children or ()}
    assert set(answers) <= set(headings) and {question for of in answers.values() for question in of} <= shown


def test_questions_of_several_chains_are_told_together(published):
    published.write()
    (other := published.root / "pairs/red-cup").mkdir(parents=True)
    with tables.recipe("another recipe"):
        publish_questions(published.dataset, published.scenes, other / "questions.parquet")
    later = published.root / "later.json"
    later.write_text('{"ended": "2026-06-01T00:00:00+00:00"}')
    both = [published.questions, other / "questions.parquet"]
    definitions = [published.root / f"{name}.yaml" for name in PARTS]
    told = describe(published.folder, both, [later, published.record], definitions, [], PublishSettings(), "mine")
    alone = published.describe()
    assert told.questions == 2 * alone.questions and told.templates == {"COUNT": 2 * alone.questions}
    assert str(told.day) == "2026-06-01" and len(told.recipes) == 2
    assert told.recipes["all questions of red-cup"] == "another recipe" != alone.recipes["all questions"]


@pytest.mark.parametrize("pictures", ["once", "none", "fetched", "inline"])
def test_what_other_settings_left_in_the_folder_is_not_handed_on(published, pictures):
    published.write(pictures, ["https://example.org/images.zip"])
    kept = {path for path in published.folder.rglob("*") if path.is_file()}
    left = [published.folder / path for path in ("images/pictures-00003-of-00009.parquet", "data/gone/test.parquet")]
    left += [published.folder / "fetch_pictures.py"] if pictures != "fetched" else []
    for path in left:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"PAR1")
    (published.folder / "NOTES.md").write_text("mine")
    assert sweep(published.folder, published.describe(pictures=pictures)) == len(left)
    assert {path for path in published.folder.rglob("*") if path.is_file()} == {*kept, published.folder / "NOTES.md"}
    assert not (published.folder / "data/gone").exists()


def test_the_card_of_clevr_s_questions_tells_of_clevr(published):
    published.write()
    coded = pq.read_table(published.questions)
    of_clevr = {**coded.schema.metadata, b"compvqa.language": b"clevr"}
    columns = [name for name in coded.column_names if name != "subgraph"]
    pq.write_table(coded.select(columns).replace_schema_metadata(of_clevr), published.questions)
    described = published.describe()
    assert "pictures of solids" in described.settings.description and "johnson" in described.settings.citation
    write_card(described, published.folder / "README.md")
    card = (published.folder / "README.md").read_text(encoding="utf-8")
    assert "scene graphs that tell of every object" in card and "incomplete" not in card and "after COVR" not in card


def with_risks(published, risks):
    """The dataset with these risks, as a file."""
    dataset, out = pq.read_table(published.dataset), published.root / "risky.parquet"
    field = dataset.schema.field("risk")
    pq.write_table(dataset.set_column(dataset.column_names.index("risk"), field, [pa.array(risks, field.type)]), out)
    return out


def card_of(published, dataset, *judged):
    """The card of a published dataset, in one line."""
    definitions = [published.root / f"{name}.yaml" for name in PARTS]
    told = describe(
        published.folder, [published.questions], [published.record], definitions, [], PublishSettings(), "mine",
        datasets=[dataset], judged=judged,
    )  # fmt: skip
    write_card(told, published.folder / "README.md")
    return " ".join((published.folder / "README.md").read_text(encoding="utf-8").split())


def test_the_card_says_how_many_questions_are_expected_to_be_wrong_and_how_many_are(published):
    published.write()
    judged = published.root / "judged.parquet"
    pq.write_table(pa.table({"valid": [True, True, True, False]}), judged)
    card = card_of(published, with_risks(published, [0.1, 0.2, None]), judged)
    assert "Of all, 15.0 % are expected to be" in card and "truth of the drawn world, 25.0 % are." in card
    assert "is not known" not in card


def test_the_card_says_why_no_share_is_expected_where_no_question_has_a_risk(published):
    published.write()
    unknown = (
        "some questions are wrong about their images. How many are expected to be is not known, as no question has a "
        "risk: to tell one takes a learned image filter, and images apart by which it is calibrated. Equal recipes"
    )
    card = card_of(published, with_risks(published, [None, None, None]))
    assert unknown in card and "% are" not in card
    other = published.root / "other.parquet"  # of an engine that knows of no risks
    pq.write_table(pq.read_table(published.dataset).drop_columns("risk"), other)
    assert "wrong about their images. Equal recipes" in card_of(published, other)


def test_a_pair_that_was_drawn_is_named_in_card_and_metadata(published):
    published.finish()
    body = (published.folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)[2]
    shown = [child.content for token in tokens(body, "inline") for child in token.children or ()]
    assert "pair 3: cat + red" in shown and "HAS-COUNT" in shown
    records = json.loads((published.folder / "croissant.json").read_text())["recordSet"]
    told = {record["name"]: record["description"] for record in records}
    assert told["pair/train"].endswith("the split pair, which holds out pair 3: cat + red.")
