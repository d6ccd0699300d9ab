"""A lexicon from GQA's ontology: its lists of objects, attributes and relations.

The lists are written by hand, loosely: fields by commas (objects, relations) or semicolons (attributes), in
any order, some with a letter and a colon before them. Read here are ``K`` (kind of) and ``E`` (equal to) of
objects; groups, ``S`` (similar), ``C`` (cluster: members of one group that go together), ``E`` and ``A``
(equal to) of attributes; ``G`` (generalises to) and ``E`` of relations.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from compvqa.files import read_text
from compvqa.scenes import relation_words
from compvqa.scenes.entries import AttributeEntry, LexiconData, NounEntry, RelationEntry
from compvqa.scenes.word_forms import singular

# a category is also a noun for its members; where the noun is another word, it stands behind the colon
NAMED = {
    "clothing": "clothes",
    "baked good": "food",
    "fast food": "food",
    "dessert": "food",
    "meat": "food",
    "fruit": "food",
    "vegetable": "food",
    "sauce": "food",
    "pastry": "food",
    "bird": "animal",
    "aircraft": "vehicle",
    "watercraft": "boat",
    "tree": "plant",
    "footwear": "shoe",
    "cooking utensil": "utensil",
}
# categories too loose to be the name of their members
LOOSE = "thing object place part body textile symbol label ingredient material room road liquid sport"
UNNAMED = {
    *LOOSE.split(),
    "body part",
    "vehicle part",
    "urban environment",
    "nature environment",
    "office supplies",
}
PARTS = {
    "body part": ["person", "animal", "bird"],
    "vehicle part": ["vehicle", "aircraft", "watercraft"],
    "urban environment": ["building", "room"],
}
BLURRED = [["road", "nature environment", "ground"], ["place", "room", "building"]]
GROUND = "ground grass dirt field land soil sand floor hill lawn yard backyard beach pavement mud snow gravel"
PEOPLE = {
    "male adult": "man men guy gentleman father dad husband",
    "female adult": "woman women lady mother mom wife",
    "male child": "boy boys",
    "female child": "girl girls",
    "male ": "son he male",
    "female ": "daughter she female",
    " adult": "adult",
    " child": "child children kid kids baby toddler infant",
    " ": "people parent couple crowd group family",
}
MORE = {
    "riding": ["on"],
    "riding on": ["on"],
    "wearing": ["with"],
    "carrying": ["holding"],
    "holding": ["with"],
    "covered in": ["covered by"],
}
EQUAL = (
    ("near", "next to", "beside", "by", "close to"),
    ("under", "below", "underneath", "beneath"),
    ("in", "inside", "within"),
    ("on", "on top of", "atop"),
    ("above", "over"),
    ("watching", "looking at", "staring at", "observing"),
)


def read(folder: Path) -> LexiconData:
    """The lexicon of ``gqa_objects.txt``, ``gqa_attributes.txt`` and ``gqa_relations.txt`` in ``folder``."""
    return LexiconData(
        nouns=_nouns(folder / "gqa_objects.txt"),
        attributes=_attributes(folder / "gqa_attributes.txt"),
        relations=_relations(folder / "gqa_relations.txt"),
        complete=False,
        parts=PARTS,
        blurred=BLURRED,
    )


def frequencies(folder: Path) -> dict[str, dict[str, int]]:
    """How often each of the listed nouns, attributes and relations occurs, by GQA's count; the most frequent first.

    Left out are names whose line gives no count.
    """
    lists = {"nouns": ("gqa_objects.txt", ","), "attributes": ("gqa_attributes.txt", ";")}
    found = {}
    for kind, (name, separator) in (lists | {"relations": ("gqa_relations.txt", ",")}).items():
        counts: dict[str, int] = {}
        for line in _lines(folder / name, separator):
            if len(line) > 1 and line[1].isdecimal() and int(line[1]) > 0:
                counts.setdefault(line[0], int(line[1]))
        found[kind] = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return found


def _lines(path: Path, separator: str) -> Iterator[list[str]]:
    for line in read_text(path, "give the folder of GQA's ontology").splitlines():
        fields = [field.strip() for field in line.split(separator)]
        if fields[0]:
            yield fields


def _listed(fields: list[str], letter: str, separator: str = ".") -> list[str]:
    """The names in the fields that begin with the letter and a colon."""
    found = [f[len(letter) + 1 :] for f in fields if f.startswith(f"{letter}:")]
    return [name.strip() for text in found for name in text.split(separator) if name.strip()]


def _nouns(path: Path) -> dict[str, NounEntry]:
    rows = [(fields[0], fields[2:]) for fields in _lines(path, ",")]
    categories = {field for _, fields in rows for field in fields[:2] if len(field) > 2 and ":" not in field}
    entries: dict[str, NounEntry] = {}
    for name, fields in rows:
        if name in entries:
            continue
        category = next((field for field in fields if field in categories), None)
        if name in GROUND.split():
            category = "ground"
        kinds = [kind for kind in _listed(fields, "K") if kind != name]
        if category is not None and category not in UNNAMED:
            kinds += [category, NAMED.get(category, category)]
        entries[name] = NounEntry(
            hypernyms=list(dict.fromkeys(kind for kind in kinds if kind != name)),
            synonyms=list(dict.fromkeys(other for other in _listed(fields, "E") if other != name)),
            countable="M" not in fields,
            category=category,
        )
    _add_plurals(entries)
    _add_people(entries)
    return {name: entries[name] for name in sorted(entries)}


def _add_plurals(entries: dict[str, NounEntry]) -> None:
    """A plural is called like its singular; nothing else is known of most of them."""
    for name, entry in entries.items():
        one = singular(name)
        if one != name and one in entries and one not in entry.synonyms:
            entry.synonyms.append(one)


def _add_people(entries: dict[str, NounEntry]) -> None:
    for key, names in PEOPLE.items():
        sex, age = key.split(" ")
        facets = {facet: value for facet, value in (("sex", sex), ("age", age)) if value}
        for name in names.split():
            entry = entries.setdefault(name, NounEntry(category="person"))
            entry.facets = facets
            if "person" not in entry.hypernyms:
                entry.hypernyms.append("person")


def _attributes(path: Path) -> dict[str, AttributeEntry]:
    rows = {fields[0]: fields[2:] for fields in _lines(path, ";") if "," not in fields[0]}
    members: dict[str, list[str]] = {}
    for name, fields in rows.items():
        for group in _groups(fields):
            members.setdefault(group, []).append(name)
    entries = {}
    for name, fields in rows.items():
        groups = _groups(fields)
        clusters = set(_listed(fields, "C", ","))
        equal = [other for letter in "EA" for other in _listed(fields, letter, ",")]
        rivals = [other for group in groups for other in members[group] if other != name]
        together = [other for other in rivals if clusters & set(_listed(rows[other], "C", ","))]
        named = [group for group in groups if not group.isdigit()]
        similar = _listed(fields, "S", ",")
        excludes = [other for other in rivals if other not in together and other not in similar]
        same_group = set(members[named[0]]) if named else set()
        entries[name] = AttributeEntry(
            group=named[0] if named else None,
            synonyms=sorted({other for other in equal if other != name}),
            overlaps=sorted(set(together)),
            excludes=sorted(set(excludes) - same_group),
            similar=similar,
        )
    _add_equals(entries)
    return {name: entries[name] for name in sorted(entries)}


def _groups(fields: list[str]) -> list[str]:
    """The groups in the first field: names, or numbers of pairs of opposites."""
    first = fields[0] if fields else ""
    if not first or ":" in first or first in ("N", "P"):
        return []
    return [group.strip() for group in first.split(",") if group.strip()]


def _add_equals(entries: dict[str, AttributeEntry]) -> None:
    """Another spelling of an attribute is in its group and excludes what it excludes."""
    for entry in list(entries.values()):
        for other in entry.synonyms:
            if other not in entries:
                entries[other] = entry.model_copy(update={"synonyms": []})


def _relations(path: Path) -> dict[str, RelationEntry]:
    entries: dict[str, RelationEntry] = {}
    for fields in _lines(path, ","):
        name = fields[0]
        general = [part for text in _listed(fields, "G", " ") for part in text.split(".")]
        verb, _ = relation_words.parts(name)
        entails = [part for part in general if part in relation_words.VAGUE]
        if verb and "loc" in general:
            entails.append(name[len(verb) :].strip())
        if verb and verb != name and not relation_words.SENSES & set(verb.split()):
            entails.append(verb)
        entails += MORE.get(name, [])
        entries[name] = RelationEntry(
            entails=list(dict.fromkeys(part for part in entails if part not in ("", name))),
            synonyms=_listed(fields, "E"),
        )
    for names in EQUAL:
        for name in names:
            entry = entries.setdefault(name, RelationEntry())
            entry.synonyms = list(dict.fromkeys([*entry.synonyms, *(other for other in names if other != name)]))
    return {name: entries[name] for name in sorted(entries)}
