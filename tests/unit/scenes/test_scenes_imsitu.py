"""imSitu: templates to relations with modifiers, and the choice of a frame."""

import json

import pytest

from compvqa.errors import InputError
from compvqa.scenes.raw import Report
from compvqa.scenes.readers import imsitu


def parse(verb, sentence, *roles):
    found = imsitu.parse_template(verb, sentence, roles)
    return found and (found.subject, found.relation, found.object, found.modifiers)


@pytest.mark.parametrize(
    ("verb", "sentence", "roles", "expected"),
    [
        (
            "pouring",
            "AGENT pours LIQUID into DESTINATION with TOOL at PLACE",
            "agent liquid destination tool place",
            ("agent", "pouring", "liquid", (("into", "destination"), ("with", "tool"))),
        ),
        (
            "flapping",
            "AGENT flapped its BODYPART at PLACE",
            "agent bodypart place",
            ("agent", "flapping its", "bodypart", ()),
        ),
        (
            "talking",
            "AGENT talks to LISTENER in MANNER at PLACE",
            "agent listener place",
            ("agent", "talking to", "listener", ()),
        ),
        (
            "demolished",
            "AGENT demolished UNDERGOER",
            "agent undergoer",
            ("agent", "demolishing", "undergoer", ()),
        ),
        (
            "begging",
            "AGENT begging GIVER for ITEM",
            "agent giver item",
            ("agent", "begging", "giver", (("for", "item"),)),
        ),
        (
            "fishing",
            "AGENT extracts fish from SOURCE using TOOL",
            "agent source tool",
            ("agent", "fishing from", "source", (("using", "tool"),)),
        ),
        (
            "caressing",
            "AGENT caresses RECIPIENT on the RECIPIENTPART",
            "agent recipient recipientpart",
            ("agent", "caressing", "recipient", (("on the", "recipientpart"),)),
        ),
        (
            "snapping",
            "AGENT snapped Agentpart at PLACE",
            "agent agentpart",
            ("agent", "snapping their", "agentpart", ()),
        ),
        (
            "flipping",
            "AGENT flips FLIPPED  with TOOL",
            "agent flipped tool",
            ("agent", "flipping", "flipped", (("with", "tool"),)),
        ),
        (
            "carrying",
            "AGENT carries ITEM on AGENTPART",
            "agent item agentpart",
            ("agent", "carrying", "item", (("on their", "agentpart"),)),
        ),
        (
            "tipping",
            "AGENT tips ITEM with its AGENTPART",
            "agent item agentpart",
            ("agent", "tipping", "item", (("with its", "agentpart"),)),
        ),
        (
            "ailing",
            "VICTIM ailing with CAUSE in VICTIMPART",
            "victim cause victimpart",
            ("victim", "ailing with", "cause", (("in their", "victimpart"),)),
        ),
        (
            "hitting",
            "AGENT hits VICTIM in VICTIMPART  with TOOL",
            "agent victim victimpart tool",
            ("agent", "hitting", "victim", (("in the", "victimpart"), ("with", "tool"))),
        ),
        ("arching", "AGENT arches BODYPART", "agent bodypart", ("agent", "arching their", "bodypart", ())),
        (
            "striking",
            "AGENT strikes AGENTPART of COAGENT using TOOL",
            "agent agentpart coagent tool",
            ("agent", "striking the", "agentpart", (("of", "coagent"), ("using", "tool"))),
        ),
        ("hiking", "AGENT hikes at PLACE", "agent place", None),
        ("snowing", "snows at PLACE", "place", None),
    ],
)
def test_a_sentence_gives_a_relation_and_its_modifiers(verb, sentence, roles, expected):
    assert parse(verb, sentence, *roles.split()) == expected


def test_the_frame_that_agrees_most_is_chosen():
    template = imsitu.parse_template("eating", "AGENT eats FOOD with TOOL", ("agent", "food", "tool"))
    odd = {"agent": "n1", "food": "n9", "tool": ""}
    common = {"agent": "n1", "food": "n2", "tool": "n3"}
    incomplete = {"agent": "", "food": "n2", "tool": "n3"}
    assert imsitu.choose_frame([odd, common, incomplete], template) is common
    assert imsitu.choose_frame([odd, dict(odd, food="n8")], template) is odd  # a tie: the first
    assert imsitu.choose_frame([incomplete], template) is None


SPACE = {
    "verbs": {
        "pouring": {
            "roles": ["agent", "liquid", "tool", "place"],
            "abstract": "AGENT pours LIQUID with TOOL at PLACE",
        },
        "hiking": {"roles": ["agent", "place"], "abstract": "AGENT hikes at PLACE"},
    },
    "nouns": {
        "n1": {"gloss": ["man", "adult male"]},
        "n2": {"gloss": ["milk"]},
        "n3": {"gloss": ["jug"]},
        "n5": {},
    },
}


def read(tmp_path, records, templates=None):
    files = {"train": tmp_path / "train.json", "space": tmp_path / "imsitu_space.json"}
    files["train"].write_text(json.dumps(records))
    files["space"].write_text(json.dumps(SPACE))
    if templates is not None:
        files["templates"] = tmp_path / "generation_templates.tab"
        files["templates"].write_text(templates)
    report = Report()
    return list(imsitu.read(files, lambda _: "train", report)), report


def pouring(**roles):
    return {"verb": "pouring", "frames": [{"agent": "n1", "liquid": "n2", "tool": "n3", "place": ""} | roles]}


def test_a_picture_becomes_a_scene_without_boxes(tmp_path):
    [found], report = read(tmp_path, {"pouring_1.jpg": pouring()})
    assert (found.raw_id, found.image_id, found.width) == ("pouring_1.jpg", "pouring_1", None)
    assert [(o.object_id, o.name, o.box) for o in found.objects] == [
        ("agent", "man", None),
        ("liquid", "milk", None),
        ("tool", "jug", None),
    ]
    [relation] = found.relations
    assert (relation.subject_id, relation.name, relation.object_id) == ("agent", "pouring", "liquid")
    assert relation.modifiers == (("with", "tool"),)
    assert not report.rejects


def test_names_are_in_lower_case_whatever_the_vocabulary_writes(tmp_path, monkeypatch):
    verb = {"roles": ["agent", "liquid", "tool"], "abstract": "AGENT pours LIQUID with TOOL"}
    nouns = {"n1": {"gloss": ["Old  Man"]}, "n2": {"gloss": ["Frisbee"]}, "n3": {"gloss": ["X ray"]}}
    monkeypatch.setitem(globals(), "SPACE", {"verbs": {"Pouring": verb}, "nouns": nouns})
    [found], _ = read(tmp_path, {"p.jpg": pouring() | {"verb": "Pouring"}})
    assert [item.name for item in found.objects] == ["old man", "frisbee", "x-ray"]
    assert [relation.name for relation in found.relations] == ["pouring"]


def test_a_sentence_that_no_question_could_print_costs_its_relation_or_modifier(tmp_path):
    sentences = ("AGENT pours (slowly) LIQUID with TOOL", "AGENT pours LIQUID with* TOOL")
    kept = []
    for sentence in sentences:
        [found], report = read(tmp_path, {"p.jpg": pouring()}, f"pouring\t{sentence}\n")
        kept.append([(relation.name, relation.modifiers) for relation in found.relations])
        assert [row["reason"].partition(": ")[2] for row in report.rejects] == ["strange name"]
    assert kept == [[], [("pouring", ())]]


def test_the_template_file_goes_before_the_space(tmp_path):
    [found], _ = read(tmp_path, {"p.jpg": pouring()}, "pouring\tAGENT pours LIQUID from TOOL at PLACE\n")
    assert found.relations[0].modifiers == (("from", "tool"),)


@pytest.mark.parametrize(
    ("verb", "sentence", "expected"),
    [
        (
            "feeding",
            "AGENT feeds FOOD from SOURCE to EATER at PLACE",
            ("agent", "feeding", "eater", (("with", "food"), ("from their", "source"))),
        ),
        ("feeding", "AGENT feeds FOOD to EATER at PLACE", ("agent", "feeding", "food", (("to", "eater"),))),
        (
            "hurling",
            "AGENT hurls OBJECT from START to END at PLACE",
            ("agent", "hurling", "object", (("from their", "start"), ("to", "end"))),
        ),
        (
            "exterminating",
            "AGENT exterminating PLACE with INSTRUMENT",
            ("agent", "exterminating with", "instrument", ()),
        ),
        ("riding", "AGENT rides then VEHICLE at PLACE", ("agent", "riding", "vehicle", ())),
    ],
)
def test_a_sentence_of_imsitu_that_says_something_else_is_read_as_meant(tmp_path, verb, sentence, expected):
    """A boy that is feeding an apple gives it to eat: he is feeding a horse with it. Other sentences stay."""
    roles = ["agent", "source", "food", "eater", "object", "start", "end", "instrument", "vehicle", "place"]
    space = {"verbs": {verb: {"roles": roles, "abstract": sentence}}, "nouns": {}}
    (tmp_path / "space.json").write_text(json.dumps(space))
    read_as = imsitu.read_space(tmp_path / "space.json").sentences[verb]
    assert parse(verb, read_as, *roles) == expected


def test_a_later_role_that_is_the_object_again_is_left_out(tmp_path):
    """Nobody pumps air from air; what jumps from land may do so onto land."""
    [found], report = read(tmp_path, {"p.jpg": pouring(tool="n2")})
    assert found.relations[0].modifiers == () and [item.name for item in found.objects] == ["man", "milk"]
    assert report.counts["modifiers dropped: role is the object again"] == 1
    [found], _ = read(tmp_path, {"p.jpg": pouring(tool="n2")}, "pouring\tAGENT pours from LIQUID into TOOL at PLACE\n")
    assert found.relations[0].modifiers == (("into", "tool"),)


def test_an_empty_later_role_is_skipped(tmp_path):
    [found], report = read(tmp_path, {"p.jpg": pouring(tool="")})
    assert found.relations[0].modifiers == () and len(found.objects) == 2
    assert report.counts["modifiers dropped: role is empty"] == 1


def test_what_is_dropped_is_counted_and_what_is_bad_is_refused(tmp_path):
    records = {
        "a.jpg": pouring(liquid=""),
        "b.jpg": {"verb": "hiking", "frames": [{"agent": "n1"}]},
        "c.jpg": {"verb": "dancing", "frames": []},
        "d.jpg": {"frames": []},
        "e.jpg": pouring(tool="n4"),
        "f.jpg": pouring(agent="n5"),
        "g.jpg": {"verb": "pouring", "frames": ["x", {"agent": 3}]},
    }
    found, report = read(tmp_path, records)
    assert [s.raw_id for s in found] == ["e.jpg", "f.jpg"]
    assert found[0].relations[0].modifiers == () and not found[1].relations
    assert report.counts["scenes dropped: first two roles are not filled"] == 2
    assert report.counts["scenes dropped: verb with fewer than two roles"] == 1
    assert [(row["scene_id"], row["reason"]) for row in report.rejects] == [
        ("c.jpg", "verb without a sentence template"),
        ("d.jpg", "scene without a verb and frames"),
        ("e.jpg", "object: noun id without a usable gloss"),
        ("f.jpg", "object: noun id without a usable gloss"),
        ("f.jpg", "relation to a missing object"),
        ("g.jpg", "frame is not a table of noun ids"),
        ("g.jpg", "frame is not a table of noun ids"),
    ]


def test_a_misspelt_role_is_refused_and_an_unknown_one_counted(tmp_path):
    wrong = pouring()
    wrong["frames"][0]["liqiud"] = wrong["frames"][0].pop("liquid")
    [found], report = read(tmp_path, {"a.jpg": wrong, "b.jpg": pouring(weather="n2")})
    assert found.raw_id == "b.jpg" and report.counts["roles that their verb has not"] == 1
    [row] = report.rejects
    assert row["record"] == "frame 0" and row["reason"] == "frame: unknown role 'liqiud', did you mean 'liquid'?"


@pytest.mark.parametrize(("key", "name"), [("abstract", "pouring"), ("roles", "pouring"), ("gloss", "n1")])
def test_a_misspelt_key_of_the_vocabulary_is_named(tmp_path, key, name):
    (tmp_path / "x.json").write_text(json.dumps(SPACE).replace(f'"{key}"', f'"{key}s"'))
    with pytest.raises(InputError, match=rf"x\.json has a wrong record '{name}' .*'{key}s', did you mean '{key}'"):
        imsitu.read_space(tmp_path / "x.json")


def test_bad_vocabulary_files(tmp_path):
    with pytest.raises(InputError, match=r"generation_templates\.tab, line 2, is not"):
        read(tmp_path, {}, "pouring\tAGENT pours\nhiking AGENT hikes\n")
    (tmp_path / "x.json").write_text('{"verbs": {}}')
    with pytest.raises(InputError, match=r"x\.json lacks the tables"):
        imsitu.read_space(tmp_path / "x.json")
