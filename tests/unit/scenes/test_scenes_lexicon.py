"""What the lexicon knows, and the rules for what it does not know."""

import json
import re
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.errors import InputError
from compvqa.scenes.entries import AttributeEntry, LexiconData, NounEntry, RelationEntry
from compvqa.scenes.lexicon import Lexicon

DATA = {
    "nouns": {
        "person": {"category": "person"},
        "man": {"hypernyms": ["person"], "overlaps": ["chef"], "facets": {"sex": "male"}},
        "woman": {"hypernyms": ["person"], "facets": {"sex": "female"}},
        "chef": {"hypernyms": ["person"]},
        "nurse": {"hypernyms": ["person"]},
        "puppy": {"hypernyms": ["dog"]},
        "dog": {"hypernyms": ["animal"], "synonyms": ["hound"]},
        "animal": {},
        "bottle": {},
        "milk": {"countable": False},
        "arm": {"category": "body part"},
    },
    "attributes": {
        "red": {"group": "color", "overlaps": ["maroon"]},
        "maroon": {"group": "color"},
        "blue": {"group": "color", "synonyms": ["azure"]},
        "dark blue": {"group": "color", "similar": ["blue", "black"]},
        "black": {"group": "color"},
        "wooden": {"group": "material"},
        "open": {"excludes": ["closed"]},
        "closed": {},
    },
    "relations": {
        "riding": {"entails": ["on"]},
        "on": {"synonyms": ["on top of"]},
        "under": {},
        "near": {"overlaps": ["under"]},
    },
    "parts": {"body part": ["person"]},
}
LEXICON = Lexicon(LexiconData.model_validate(DATA))
OPEN = Lexicon(LexiconData.model_validate(DATA | {"complete": False}))


def exclusive(kind, x, y, lexicon=LEXICON):
    return lexicon.exclusive(kind, x, y) > 0.5


def test_the_example_of_the_documentation_says_what_the_text_beside_it_says(root, tmp_path):
    text = (root / "config/README.md").read_text().split("## A lexicon of your own")[1].split("\n## ")[0]
    (tmp_path / "lexicon.json").write_text(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])
    lexicon = Lexicon.load(tmp_path / "lexicon.json")
    together = [
        *(("noun", "dog", "animal"), ("noun", "hound", "dog"), ("noun", "statue", "man"), ("noun", "arm", "man")),
        *(("noun", "grass", "lawn"), ("noun", "wine bottle", "bottle"), ("attribute", "dark blue", "blue")),
        *(("attribute", "wooden", "brown"), ("attribute", "shiny", "odd"), ("relation", "on", "riding")),
    ]
    apart = [
        *(("noun", "man", "woman"), ("noun", "dog", "person"), ("noun", "zebra", "kettle")),
        *(("attribute", "red", "blue"), ("attribute", "open", "closed")),
    ]
    assert [pair for pair in together if exclusive(*pair, lexicon)] == []
    assert [pair for pair in apart if not exclusive(*pair, lexicon)] == []
    assert (lexicon.group("red"), lexicon.group("shiny"), lexicon.countable("milk")) == ("color", None, False)
    described = set(re.findall(r"`([a-z]+)`", "\n".join(re.findall(r"^\| (.*?) \|", text, re.MULTILINE))))
    keys = {key for entry in (NounEntry, AttributeEntry, RelationEntry) for key in entry.model_fields}
    assert described == (keys | set(LexiconData.model_fields)) - {"nouns", "attributes", "relations"}


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("dog", "dog", False),
        ("dog", "dogs", False),
        ("dog", "animal", False),
        ("puppy", "animal", False),
        ("puppy", "hound", False),
        ("dog", "bottle", True),
        ("wine bottle", "bottle", False),
        ("wine bottle", "milk bottle", True),
        ("man", "woman", True),
        ("man", "chef", False),
        ("woman", "chef", False),
        ("nurse", "chef", True),
        ("woman", "arm", False),
        ("dog", "arm", True),
        ("dog", "spoon", True),
        ("thing", "bottle", False),
        ("thing", "dog", True),
        ("thing", "man", True),
    ],
)
def test_nouns(x, y, expected):
    assert exclusive("noun", x, y) is exclusive("noun", y, x) is expected


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("red", "blue", True),
        ("red", "maroon", False),
        ("red", "wooden", False),
        ("blue", "azure", False),
        ("blue", "dark blue", False),
        ("black", "dark blue", False),
        ("open", "closed", True),
        ("red", "unheard of", False),
    ],
)
def test_attributes(x, y, expected):
    assert exclusive("attribute", x, y) is exclusive("attribute", y, x) is expected


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("riding", "near", True),  # who annotates "near" would have seen the riding
        ("near", "riding", True),  # this lexicon is complete: nothing says that the two go together
        ("riding", "on", False),
        ("on", "riding", False),
        ("on top of", "riding", False),
        ("on", "under", True),
        ("near", "under", False),
    ],
)
def test_relations_of_a_complete_lexicon(x, y, expected):
    assert exclusive("relation", x, y) is expected


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("riding on", "near", True),
        ("near", "riding on", False),
        ("sitting on", "next to", True),
        ("next to", "sitting on", False),
        ("sitting on", "standing on", True),
        ("riding on", "standing on", False),
        ("sitting on", "on", False),
        ("on", "sitting on", False),
        ("above", "below", True),
        ("looking at", "near", False),
        ("pouring", "drinking", True),  # two actions
        ("holding", "wearing", True),
        ("holding", "shredding", True),
        ("petting", "yanking", True),
        ("holding", "eating", False),  # what one eats one may hold
        ("holding", "carrying", False),  # two words for one
        ("washing", "scrubbing", False),
        ("using", "cutting", False),
        ("carries", "carrying", False),  # one verb in two forms
        ("wears", "wearing a", False),
        ("hold", "is holding", False),
        ("has a", "have", False),
        ("carries", "yanks", False),  # as carrying and yanking
        ("sits on", "standing on the", True),
        ("are on", "under a", True),
    ],
)
def test_relations_by_their_words(x, y, expected):
    assert exclusive("relation", x, y, OPEN) is expected


def test_entailed_names_all_that_may_be_called_so():
    assert LEXICON.entailed("noun", "animal") == {"animal", "dog", "puppy", "hound"}
    assert LEXICON.entailed("noun", "hound") == {"hound", "dog", "puppy"}
    assert LEXICON.entailed("relation", "on") == {"on", "on top of", "riding"}
    assert LEXICON.entailed("relation", "on top of") == {"on", "on top of", "riding"}
    assert LEXICON.entailed("attribute", "azure") == {"azure", "blue"}
    assert LEXICON.entailed("noun", "unheard of") == {"unheard of"}


@pytest.mark.parametrize(
    ("kind", "names", "below", "alike"),
    [
        ("noun", "bottle,bottles,wine bottle", {"bottle": "wine bottle", "bottles": "wine bottle"}, "bottle,bottles"),
        ("noun", "dog,hound,puppy,spoon", {"dog": "puppy", "hound": "puppy"}, "dog,hound"),
        ("noun", "puppy,animal,man", {"animal": "puppy"}, None),
        ("noun", "thing,spoon,dog,man", {"thing": "spoon"}, None),
        ("attribute", "azure,blue,dark blue,black", {"blue": "dark blue"}, "azure,blue"),
        ("attribute", "wooden,not wooden", {}, None),  # nothing says that the two are alike
        ("relation", "on,riding,under,sitting on", {"on": "riding"}, None),  # this lexicon is complete
        ("relation", "on top of,riding,near", {"on top of": "riding"}, None),
    ],
)
def test_names_that_entail_others(kind, names, below, alike):
    found = set(LEXICON.entailments(kind, names.split(",")))
    assert found - same(found) == set(below.items())
    assert same(found) == (set(permutations(alike.split(","), 2)) if alike else set())


def same(pairs):
    """Those that hold in both directions."""
    return {(x, y) for x, y in pairs if (y, x) in pairs}


def test_the_words_of_relations_entail_where_the_entries_end():
    names = ["on", "on top of", "sitting", "sitting on", "looking", "looking at", "at", "covered with", "with"]
    found = set(OPEN.entailments("relation", names))
    assert found - same(found) == {("on", "sitting on"), ("on top of", "sitting on"), ("sitting", "sitting on")}


@pytest.mark.parametrize(
    ("names", "above"),
    [
        ("wears,is wearing,wearing a", {}),
        ("on,are on,on a,sits on", {"sits on": {"on", "are on", "on a"}}),
        ("towards,towarding", None),  # no verb
        ("across,acrossing", None),
    ],
)
def test_forms_of_one_relation_entail_each_other(names, above):
    found = set(OPEN.entailments("relation", names.split(",")))
    if above is None:
        assert not found
        return
    assert found - same(found) == {(x, y) for y, xs in above.items() for x in xs}
    assert same(found) == set(permutations(set(names.split(",")) - above.keys(), 2))


nouns = st.sampled_from([*DATA["nouns"], "dogs", "Dog", "wine bottle", "milk bottles", "thing", "spoon", "sea dog"])


@given(st.lists(nouns, unique=True))
def test_just_nouns_that_are_as_good_as_the_same_entail_each_other(names):
    found = set(LEXICON.entailments("noun", names))
    alike = {(x, y) for x, y in permutations(names, 2) if LEXICON.exclusive("noun", x, y) <= 0.05}
    assert found | {(y, x) for x, y in found} == alike - {("man", "chef"), ("chef", "man")}  # which only overlap


def test_groups_and_countability():
    assert LEXICON.group("red") == "color" and LEXICON.group("open") is None and LEXICON.group("x") is None
    assert not LEXICON.countable("milk") and LEXICON.countable("dogs") and LEXICON.countable("unheard of")


names = {kind: st.sampled_from([*DATA[f"{kind}s"], "unheard of", "red dogs"]) for kind in ("noun", "attribute")}


@given(data=st.data(), kind=st.sampled_from(sorted(names)))
def test_m_is_a_symmetric_probability_and_nothing_excludes_itself(data, kind):
    x, y = data.draw(names[kind]), data.draw(names[kind])
    assert 0 <= LEXICON.exclusive(kind, x, y) <= 1
    assert LEXICON.exclusive(kind, x, y) == LEXICON.exclusive(kind, y, x)
    assert LEXICON.exclusive(kind, x, x) == 0
    if x in LEXICON.entailed(kind, y):
        assert not exclusive(kind, x, y)


@given(data=st.data())
def test_what_entails_a_relation_never_excludes_it(data):
    x, y = (data.draw(st.sampled_from(sorted(DATA["relations"]))) for _ in "xy")
    if y in LEXICON.entailed("relation", x):
        assert LEXICON.exclusive("relation", x, y) == 0


def test_names_are_in_lower_case_as_those_of_scenes(tmp_path):
    (tmp_path / "mine.json").write_text('{"attributes": {"Dark  Red": {"group": "color", "excludes": [" Blue"]}}}')
    lexicon = Lexicon.load(tmp_path / "mine.json")
    assert lexicon.group("dark red") == "color" and exclusive("attribute", "dark red", "blue", lexicon)


def test_dump_and_load(tmp_path):
    LEXICON.dump(tmp_path / "lexicon.json")
    assert Lexicon.load(tmp_path / "lexicon.json").data == LEXICON.data


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not valid JSON"),
        ('{"nouns": {"man": {"hypernym": []}}}', "nouns.man.hypernym"),
        ('{"attributes": []}', "attributes"),
        ('{"relations": {"on": {"entails": "near"}}}', "relations.on.entails"),
        ('{"nouns": {"Mug": {"countable": false}, "mug": {}}}', "at nouns, .*'Mug' and 'mug' are one name"),
    ],
)
def test_a_bad_file_is_one_sentence(tmp_path, text, words):
    path = tmp_path / "lexicon.json"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        Lexicon.load(path)
    with pytest.raises(InputError, match="missing.json cannot be opened"):
        Lexicon.load(tmp_path / "missing.json")


def write_ontology(folder: Path) -> Path:
    (folder / "gqa_objects.txt").write_text(
        "animal,9,animal,S,A\ncow,3,animal,S,K:cow\ncalf,1,animal,S,K:cow\ncows,1,animal,P\ngrass,3,x,plant,M\n"
        "shop,1,place,S,E:store\narm,4,body part,S\nperson,9,person,S\n\nman,8,person,S\n"
    )
    (folder / "gqa_attributes.txt").write_text(
        "white;9;color;S:gray\ngray;9;color;S:white\nred;9;color\nopen;3;15\nclosed;2;15;C:closed;E:unopened\n"
        "shut;2;15;C:closed\nlittle;1;age,size;C:young,small\nhuge;1;size;C:large\nyoung;9;age;C:young\nfluffy;3\n"
    )
    (folder / "gqa_relations.txt").write_text(
        "sitting on,9,averb,ff,G:sitting.loc\nbeneath,3,direct,G:under\nlooking at,9,averb,G:looking\nholding,8,averb\n"
    )
    return folder


def test_gqa_ontology(tmp_path):
    lexicon = Lexicon.from_gqa(write_ontology(tmp_path))
    assert lexicon.entailed("noun", "animal") >= {"animal", "cow", "calf", "cows"}
    assert "calf" in lexicon.entailed("noun", "cow")
    assert not lexicon.countable("grass") and lexicon.countable("cow")
    assert lexicon.group("little") == "age" and lexicon.group("open") is None and lexicon.group("fluffy") is None
    assert lexicon.entailed("relation", "on") >= {"sitting on"}
    assert "looking at" not in lexicon.entailed("relation", "at")
    judged = {
        ("noun", "cow", "calf"): False,
        ("noun", "shop", "store"): False,
        ("noun", "man", "arm"): False,
        ("noun", "man", "cow"): True,
        ("attribute", "white", "red"): True,
        ("attribute", "white", "gray"): False,
        ("attribute", "open", "closed"): True,
        ("attribute", "open", "unopened"): True,
        ("attribute", "closed", "shut"): False,
        ("attribute", "little", "young"): False,
        ("attribute", "little", "huge"): True,
    }
    assert {key: exclusive(*key, lexicon) for key in judged} == judged


def test_a_missing_ontology_file_is_named(tmp_path):
    with pytest.raises(InputError, match="gqa_objects.txt cannot be opened"):
        Lexicon.from_gqa(tmp_path)


def test_the_dump_does_not_depend_on_the_order_of_lines(tmp_path):
    Lexicon.from_gqa(write_ontology(tmp_path)).dump(tmp_path / "a.json")
    for path in tmp_path.glob("gqa_*.txt"):
        path.write_text("\n".join(reversed(path.read_text().splitlines())))
    Lexicon.from_gqa(tmp_path).dump(tmp_path / "b.json")
    one, other = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert one.keys() == other.keys() and one["nouns"] == other["nouns"]
