"""What is known of the vocabulary: which names overlap, which are exclusive, and each attribute's group."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path

from pydantic import ValidationError

from compvqa.errors import InputError
from compvqa.files import read_json, write_json
from compvqa.scenes import ontology, relation_words, wordnet
from compvqa.scenes.entries import AttributeEntry, LexiconData, NounEntry, RelationEntry
from compvqa.scenes.senses import Senses, reached
from compvqa.scenes.word_forms import inflector, singular

KINDS = ("noun", "attribute", "relation")
# m(x, y) by the rule that decides; above 0.5 counts as exclusive
STATED, SAME, KNOWN, GUESSED = 0.95, 0.0, 0.9, 0.7
RELATED, OTHER_GROUP, ENTAILED, SIMILAR, UNSURE, UNKNOWN = 0.05, 0.1, 0.2, 0.3, 0.3, 0.0
AGENTS = ("er", "or", "ist", "ian", "man", "woman", "person", "boy", "girl", "player")
UNIVERSAL = frozenset({"thing", "object", "item", "something"})


class Lexicon:
    """The vocabulary's knowledge; names that it does not know follow the rules of each kind."""

    def __init__(self, data: LexiconData):
        self.data = data
        self._known_relation = cache(self._find_relation)

    @classmethod
    def load(cls, path: Path | str) -> Lexicon:
        """The lexicon of a JSON file; :class:`InputError` names what is wrong in it."""
        try:
            data = read_json(path, "give a lexicon's JSON file")
            data.pop("recipe", None)
            return cls(LexiconData.model_validate(data))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "the top"
            raise InputError(f"{path} is no lexicon: at {place}, {first['msg']}.") from None

    @classmethod
    def from_gqa(cls, folder: Path | str) -> Lexicon:
        """The lexicon of GQA's ontology files in ``folder`` (``gqa_objects.txt``, …)."""
        return cls(ontology.read(Path(folder)))

    def with_wordnet(self, folder: Path | str) -> Lexicon:
        """The same with what nouns mean by WordNet's files in ``folder`` (``data.noun``, ``index.noun``)."""
        return Lexicon(self.data.model_copy(update={"senses": wordnet.read(Path(folder))}))

    def dump(self, path: Path | str) -> None:
        """Write the lexicon as JSON; :meth:`load` reads it back."""
        data = json.dumps(self.data.model_dump(exclude_defaults=True), sort_keys=True)  # at every depth
        write_json(Path(path), json.loads(data))

    def group(self, attribute: str) -> str | None:
        """The attribute's group (color, material …); None where there is none."""
        entry = self.data.attributes.get(attribute)
        return entry.group if entry else None

    def knows(self, kind: str, name: str) -> bool:
        """Whether the lexicon has an entry of the name."""
        return self._written(_checked(kind), name) in getattr(self.data, f"{kind}s")

    def countable(self, noun: str) -> bool:
        """Whether things called ``noun`` can be counted; unknown nouns can."""
        entry = self.data.nouns.get(noun) or self.data.nouns.get(singular(noun))
        return entry.countable if entry else True

    def entailed(self, kind: str, name: str) -> frozenset[str]:
        """All names n such that what is truly called n may also be called ``name``, itself included."""
        return frozenset(self._below[_checked(kind)].get(name, {name}))

    def entailments(self, kind: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
        """All pairs (x, y) of different ``names`` such that what is called y is also called x, each once.

        So it is by the entries, or by the words: a wine bottle is a bottle, what is walking on something is on it. The
        work grows with the names and what each entails, not with their pairs.
        """
        spellings: dict[str, list[str]] = {}
        written = {name: self._written(_checked(kind), name) for name in sorted(set(names))}
        for name, form in written.items():
            spellings.setdefault(form, []).append(name)
        for y, form in written.items():
            for general in sorted(self._implied(kind, form)):
                yield from ((x, y) for x in spellings.get(general, ()) if x != y)

    def exclusive(self, kind: str, x: str, y: str) -> float:
        """m(x, y): the probability that what is called x cannot also be called y (COVR, App. A).

        Nouns and attributes: symmetric. Relations: directed; m("riding on", "near") is high and
        m("near", "riding on") low, as annotators choose the more specific name.
        """
        if _checked(kind) == "noun":
            return self._nouns(x, y)
        return self._attributes(x, y) if kind == "attribute" else self._relations(x, y)

    # ------------------------------------------------------------------ tables made once

    @cached_property
    def _senses(self) -> Senses:
        return Senses(self.data.senses)

    @cached_property
    def _above(self) -> dict[str, dict[str, set[str]]]:
        """kind -> name -> all names that it may be called: itself, synonyms, hypernyms, what it entails."""
        return {
            "noun": _closure(
                {n: [*e.hypernyms, *e.synonyms] for n, e in self.data.nouns.items()}, self._twins("nouns")
            ),
            "attribute": _closure({n: e.synonyms for n, e in self.data.attributes.items()}, self._twins("attributes")),
            "relation": _closure(
                {n: [*e.entails, *e.synonyms] for n, e in self.data.relations.items()},
                self._twins("relations"),
            ),
        }

    @cached_property
    def _below(self) -> dict[str, dict[str, set[str]]]:
        below: dict[str, dict[str, set[str]]] = {kind: {} for kind in KINDS}
        for kind, above in self._above.items():
            for name, others in above.items():
                for other in others:
                    below[kind].setdefault(other, {other}).add(name)
        return below

    def _written(self, kind: str, name: str) -> str:
        """The name in the form that the lexicon knows."""
        if kind == "noun":
            return self._known_noun(name)
        return self._known_relation(name) if kind == "relation" else name

    def _implied(self, kind: str, name: str) -> set[str]:
        """All that what is called ``name``, in its written form, is also called, itself included."""
        if kind == "noun":
            vague = {general for general in UNIVERSAL if self._vague(general, name)}
            return self._noun_above(name) | {_head(name)} | vague
        implied = set(self._above[kind].get(name, {name}))
        if kind == "attribute" and self._nested(name, _head(name)):
            implied.add(_head(name))
        if kind == "relation" and not self.data.complete:
            for part in relation_words.implied(name):
                implied |= self._above[kind].get(part, {part})
        return implied

    def _twins(self, table: str) -> Iterable[tuple[str, str]]:
        """Synonyms stated by one of the two hold for both."""
        for name, entry in getattr(self.data, table).items():
            yield from ((other, name) for other in entry.synonyms)

    # ------------------------------------------------------------------ the rules of each kind

    def _stated(self, kind: str, x: str, y: str) -> float | None:
        """What the entries of x and y say of each other, if anything."""
        tables: Mapping[str, Mapping[str, NounEntry | AttributeEntry | RelationEntry]] = {
            "noun": self.data.nouns,
            "attribute": self.data.attributes,
            "relation": self.data.relations,
        }
        table = tables[kind]
        for one, other in ((x, y), (y, x)):
            entry = table.get(one)
            if entry and other in entry.overlaps:
                return RELATED
            if entry and other in entry.excludes:
                return STATED
        return None

    def _nouns(self, x: str, y: str) -> float:
        x, y = self._known_noun(x), self._known_noun(y)
        if x == y:
            return SAME
        stated = self._stated("noun", x, y)
        if stated is not None:
            return stated
        above_x, above_y = self._noun_above(x), self._noun_above(y)
        if y in above_x or x in above_y or _head(x) == y or _head(y) == x:
            return RELATED
        if self._vague(x, y) or self._vague(y, x):
            return RELATED
        people = self._person(x) and self._person(y)
        if people and (self._facets(x) or self._facets(y)):
            return self._people(x, y)
        if self._senses.overlap(self._meant(x), self._meant(y)) or (not people and self._neighbours(x, y)):
            return UNSURE
        known = not people and x in self.data.nouns and y in self.data.nouns
        return KNOWN if known else GUESSED

    def _known_noun(self, noun: str) -> str:
        """The noun as the lexicon writes it, if only in another's entry: as it is, in lower case, or its singular."""
        for form in (noun, noun.lower()):
            if form in self._below["noun"]:
                return form
        return singular(noun.lower())

    def _meant(self, noun: str) -> tuple[str, ...]:
        """The forms of a noun whose meanings are known: its singular and itself, or else its last word."""
        forms = singular(noun), noun
        return forms if any(form in self.data.senses.nouns for form in forms) else (_head(noun),)

    def _noun_above(self, noun: str) -> set[str]:
        above = self._above["noun"].get(noun, {noun})
        head = _head(noun) if noun not in self.data.nouns else noun
        return above | self._above["noun"].get(head, set())

    def _vague(self, x: str, y: str) -> bool:
        """Whether x is a word for any lifeless thing ("object") and y may be one."""
        return x in UNIVERSAL and not self._person(y) and "animal" not in self._noun_above(y)

    def _person(self, noun: str) -> bool:
        if noun in self.data.nouns or _head(noun) in self.data.nouns:
            return "person" in self._noun_above(noun)
        return "person" in self.data.nouns and noun.endswith(AGENTS)

    def _people(self, x: str, y: str) -> float:
        """A word for sex and age ("woman") fits every role ("doctor") unless they disagree."""
        facets_x, facets_y = self._facets(x), self._facets(y)
        disagree = any(facets_y.get(facet, value) != value for facet, value in facets_x.items())
        return KNOWN if disagree else UNSURE

    def _facets(self, noun: str) -> dict[str, str]:
        for form in (noun, _head(noun)):
            entry = self.data.nouns.get(form)
            if entry is not None:
                return entry.facets
        return {}

    def _neighbours(self, x: str, y: str) -> bool:
        """Whether one is a part of the other's category, or both belong to categories without a border."""
        one, other = self._category(x), self._category(y)
        for part, (whole, above) in (
            (one, (other, self._noun_above(y))),
            (other, (one, self._noun_above(x))),
        ):
            if {whole, *above} & set(self.data.parts.get(part or "", ())):
                return True
        return any(one in blurred and other in blurred for blurred in self.data.blurred)

    def _category(self, noun: str) -> str | None:
        for form in (noun, _head(noun)):
            entry = self.data.nouns.get(form)
            if entry is not None:
                return entry.category
        return None

    def _attributes(self, x: str, y: str) -> float:
        if x == y or x in self._above["attribute"].get(y, ()):
            return SAME
        stated = self._stated("attribute", x, y)
        if stated is not None:
            return stated
        one, other = self.data.attributes.get(x), self.data.attributes.get(y)
        if one is None or other is None:
            return UNKNOWN
        if y in one.similar or x in other.similar:
            return RELATED if self._nested(x, y) or self._nested(y, x) else SIMILAR
        if one.group is None or one.group != other.group:
            return OTHER_GROUP
        return KNOWN

    def _nested(self, x: str, y: str) -> bool:
        """Whether the attribute x is y with a word before it and similar to it: "dark blue" is blue."""
        of = self.data.attributes
        return y != x and _head(x) == y and any(b in of[a].similar for a, b in ((x, y), (y, x)) if a in of)

    def _find_relation(self, name: str) -> str:
        """The relation in the form that the lexicon knows: "wears a" is wearing, "are on" is on. Other verbs stay."""
        if self.data.complete or name in self._below["relation"]:
            return name
        plain = relation_words.plain(name)
        verb, _, rest = plain.partition(" ")
        doing = inflector().present_participle(verb) if verb.isalpha() else verb
        return f"{doing} {rest}".rstrip() if doing in self._verbs else plain

    @cached_property
    def _verbs(self) -> frozenset[str]:
        return relation_words.VERBS.union(name.partition(" ")[0] for name in self._below["relation"])

    def _relations(self, x: str, y: str) -> float:
        x, y = self._known_relation(x), self._known_relation(y)
        if x == y:
            return SAME
        stated = self._stated("relation", x, y)
        if stated is not None:
            return stated
        above_x, above_y = (self._above["relation"].get(name, {name}) for name in (x, y))
        if x in above_y:
            return SAME
        if y in above_x:
            return ENTAILED
        if self.data.complete and x in self.data.relations and y in self.data.relations:
            return KNOWN
        return relation_words.exclusive(x, y, shared=bool((above_x & above_y) - relation_words.VAGUE))


def _checked(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is no kind of name: use one of {', '.join(KINDS)}")
    return kind


def _head(name: str) -> str:
    """The last word of a name: a wine bottle is a bottle."""
    return name.rpartition(" ")[2]


def _closure(edges: dict[str, Iterable[str]], more: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """For each name all that is reached from it along ``edges`` and ``more``, itself included."""
    graph: dict[str, set[str]] = {name: set(others) for name, others in edges.items()}
    for name, other in more:
        graph.setdefault(name, set()).add(other)
    return {name: reached({name}, graph) for name in graph}
