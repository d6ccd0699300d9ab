"""English for subgraphs: "a sink that is below a towel", "the cat", "people that are erasing a mark"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from compvqa.covr import inflection
from compvqa.covr.subgraphs.subgraph import Edge, Held, Modifier, Subgraph

Number = Literal["singular", "plural"]
SUBJECTS = {"his": "he", "her": "she", "its": "it", "their": "they"}


@lru_cache(maxsize=100_000)
def describe(g: Subgraph, definite: bool = False, number: Number = "singular", parentheses: bool = False) -> str:
    """The noun phrase of a subgraph: "a white sink that is below a towel".

    ``definite`` gives "the …"; an indefinite singular gets "a" or "an" where its noun takes one, a plural
    gets none. Only the head noun becomes plural. ``parentheses`` puts nested references that have relations
    of their own in parentheses, as in the text for annotators.
    """
    phrase = noun_phrase(g, number, parentheses)
    if definite:
        return f"the {phrase}"
    return phrase if number == "plural" else _with_article(g, phrase)


def noun_phrase(g: Subgraph, number: Number = "singular", parentheses: bool = False) -> str:
    """The phrase without an article: "sink that is below a towel"."""
    return _join(head(g, number), _relative(g, inflection.be(g.name, number), parentheses))


def head(g: Subgraph, number: Number = "singular") -> str:
    """The noun with its attribute: "white sinks"; an attribute that follows the noun is left out here."""
    noun = inflection.plural(g.name) if number == "plural" else g.name
    return noun if g.attribute is None or inflection.follows_noun(g.attribute) else f"{g.attribute} {noun}"


def predicate(g: Subgraph, number: Number = "singular", parentheses: bool = False) -> str:
    """What the subgraph says of its root beside the head: "are below a towel and are near a wall"."""
    return _predicates(g, inflection.be(g.name, number), parentheses)


def clause(g: Subgraph, number: Number = "plural", parentheses: bool = False) -> str:
    """Head and predicate as a clause: "people are erasing a mark from a paper"."""
    return _join(head(g, number), predicate(g, number, parentheses))


@lru_cache(maxsize=100_000)
def held(g: Held, form: str, parentheses: bool = False) -> str:
    """A reference by a relation that something else has to it: "boys with a large tree behind them", "boys that are
    wearing a hat and have a tree behind them", "hats that a man wears".

    ``form`` is "plural", "singular" or "the", as in templates.
    """
    number: Number = "plural" if form == "plural" else "singular"
    noun, subject = head(g.edge.target, number), describe(g.subject, parentheses=parentheses)
    words, be = inflection.split_determiner(g.edge.name)[0], inflection.be(g.name, number)
    does = inflection.be(g.subject.name, "singular")
    modifying = modifiers(g.edge, inflection.possessive(g.subject.name, does), does)
    own = _predicates(g.edge.target, be, parentheses)
    if inflection.takes_pronoun(words) and not inflection.is_finite(words):
        pronoun = "them" if number == "plural" else inflection.pronoun(g.name)
        has = f"that {own} and {'have' if be == 'are' else 'has'}" if own else "with"
        said = _join(noun, has, subject, words, pronoun, modifying)
    else:
        verb = inflection.predicate_verb(words, does)
        said = _join(noun, f"that {own} and" if own else "", "that", subject, verb, modifying)
    return f"the {said}" if form == "the" else said


def _with_article(g: Subgraph, phrase: str) -> str:
    first = g.name if g.attribute is None or inflection.follows_noun(g.attribute) else f"{g.attribute} {g.name}"
    return inflection.article(g.name, first) + phrase[len(first) :]


def _relative(g: Subgraph, be: str, parentheses: bool) -> str:
    """The relative clause(s) after the noun: "that is below a towel and is near a wall"."""
    if len(g.edges) == 1 and g.edges[0].name in inflection.BARE and not _late_attribute(g):
        return _join(g.edges[0].name, _target(g.edges[0], inflection.possessive(g.name, be), be, parentheses))
    text = _predicates(g, be, parentheses)
    return text and f"that {text}"


def _predicates(g: Subgraph, be: str, parentheses: bool) -> str:
    whose = inflection.possessive(g.name, be)
    parts = [f"{be} {attribute}" for attribute in _late_attribute(g)]
    for edge in sorted(g.edges, key=_weight):
        verb = inflection.predicate_verb(inflection.split_determiner(edge.name)[0], be)
        parts.append(f"{verb} {_target(edge, whose, be, parentheses)}")
    return " and ".join(parts)


def _late_attribute(g: Subgraph) -> list[str]:
    if g.attribute is None or not inflection.follows_noun(g.attribute):
        return []
    return [inflection.said_attribute(g.attribute)]


def _weight(edge: Edge) -> bool:
    """Branches with relations of their own come last, so that "and" can't be read into them."""
    return bool(edge.target.edges)


def _target(edge: Edge, whose: str, be: str, parentheses: bool) -> str:
    """A relation's target and after it the modifiers: "a bottle with a corkscrew", "its wings".

    ``whose`` is the subject's possessive ("its"), which stands where the relation has one, and ``be`` its "is" or
    "are". Many have several of what one has one of ("their tails"), and each has two of some ("its wings").
    """
    owned = inflection.split_determiner(edge.name)[1]
    if owned in inflection.POSSESSIVES:
        target = f"{whose} {noun_phrase(edge.target, _owned_number(edge.target.name, whose), parentheses)}"
    elif owned == "the":
        target = describe(edge.target, definite=True, parentheses=parentheses)
    else:
        target = describe(edge.target, parentheses=parentheses)
    if parentheses and edge.target.edges:
        target = f"({target})"
    return _join(target, modifiers(edge, whose, be))


def _owned_number(noun: str, whose: str) -> Number:
    return "plural" if whose == "their" or noun in inflection.PAIRED else "singular"


def modifiers(edge: Edge, whose: str = "its", be: str = "is") -> str:
    """The relation's modifiers: "with a corkscrew"; empty if it has none."""
    return " ".join(_modifier(m.name, m.noun, whose, be) for m in edge.modifiers)


def _modifier(name: str, noun: str, whose: str, be: str) -> str:
    return f"{inflection.split_determiner(name)[0]} {_modifying(name, noun, whose, be)}"


def _modifying(name: str, noun: str, whose: str, be: str) -> str:
    """What a modifier leads to: "a corkscrew", "her shoulder", "their backs", "the head".

    A part of a body is the subject's where the modifier's name says so ("on their"), and where something is done with
    it; nothing else is said to be anyone's ("on a stretcher").
    """
    words, owned = inflection.split_determiner(name)
    if owned == "the":
        return f"the {noun}"
    used = words in inflection.INSTRUMENTS
    if inflection.of_a_body(noun) and (used or owned in inflection.POSSESSIVES):
        many = be == "are" or (used and noun in inflection.USED_TOGETHER)
        return f"{whose} {inflection.plural(noun) if many else noun}"
    return inflection.article(noun, noun)


def what(edge: Edge, be: str, whose: str = "its") -> tuple[str, str]:
    """A question for the relation's target, around its subject; ``be`` is the subject's "is" or "are".

    ("What is", "pouring into a glass") the man; ("What does", "have") the woman; ("What is", "flapping") the bird.
    """
    auxiliary, verb = inflection.question_verb(inflection.split_determiner(edge.name)[0], be)
    return f"What {auxiliary}", _join(verb, modifiers(edge, whose, be))


def either_target(edge: Edge, nouns: Sequence[str], be: str, whose: str = "its") -> str:
    """The relation with a choice of target nouns: "is pouring tea or water into a glass", "is in a box or a bag"."""
    relation, owned = inflection.split_determiner(edge.name)
    if owned in inflection.POSSESSIVES:
        targets = [f"{whose} {head(Subgraph(noun), _owned_number(noun, whose))}" for noun in nouns]
    else:
        targets = [f"the {noun}" if owned == "the" else inflection.article(noun, noun) for noun in nouns]
    return _join(inflection.predicate_verb(relation, be), " or ".join(targets), modifiers(edge, whose, be))


def modified(edge: Edge, modifier: Modifier) -> str:
    """A modifier as a predicate of several that have the relation: "are lighting it using a candle"."""
    verb = inflection.predicate_verb(_again(edge, "their"), "are")
    return _join(verb, _modifier(modifier.name, modifier.noun, "their", "are"))


def what_modifier(edge: Edge, modifier: str, be: str, whose: str = "its") -> tuple[str, str]:
    """A question for what the relation's modifier leads to: ("What is", "picking it from") the woman.

    No question ends in "using": ("What is", "using to do so") the woman that is lighting a cigar.
    """
    words = inflection.split_determiner(modifier)[0]
    if words.split(" ")[-1] == "using":
        return f"What {be}", "using to do so"
    auxiliary, verb = inflection.question_verb(_again(edge, whose), be)
    return f"What {auxiliary}", _join(verb, words)


def either_modifier(edge: Edge, modifier: str, nouns: Sequence[str], be: str, whose: str = "its") -> str:
    """The relation's modifier with a choice of nouns: "is lighting it using a candle or a lighter"."""
    verb = inflection.predicate_verb(_again(edge, whose), be)
    chosen = (_modifying(modifier, noun, whose, be) for noun in nouns)
    return _join(verb, inflection.split_determiner(modifier)[0], " or ".join(chosen))


def _again(edge: Edge, whose: str) -> str:
    """The relation's words with a pronoun for its target, which was named before: "lighting it"."""
    return f"{inflection.split_determiner(edge.name)[0]} {_pronoun(edge, whose)}"


def _pronoun(edge: Edge, whose: str) -> str:
    """The pronoun for the relation's target as it was said: "it", "them" for "their wings"."""
    owned = inflection.split_determiner(edge.name)[1] in inflection.POSSESSIVES
    many = owned and _owned_number(edge.target.name, whose) == "plural"
    return "them" if many else inflection.pronoun(edge.target.name)


def either_relation(relations: tuple[str, str], edge: Edge, be: str, whose: str = "its") -> tuple[str, str]:
    """A choice of relations to the edge's target, around their subject: ("Is", "holding a hat or wearing it") the man.

    Where the two need different verbs, each has its own: ("Does", "have a hat or is he wearing it"). Modifiers go with
    both relations: ("Is", "pouring or drinking tea with a spoon") the man.
    """
    first, second = (inflection.split_determiner(relation)[0] for relation in relations)
    named = first if edge.modifiers else relations[0]
    target = _target(Edge(named, edge.target, edge.modifiers), whose, be, False)
    again = _pronoun(Edge(named, edge.target), whose)
    subject = SUBJECTS[whose]
    verb, one = inflection.question_verb(first, be)
    own, other = inflection.question_verb(second, "are" if subject == "they" else be)
    if inflection.question_verb(second, be)[0] != verb:
        return verb.capitalize(), f"{one} {target} or {own} {subject} {other} {again}"
    if edge.modifiers:
        return verb.capitalize(), f"{one} or {other} {target}"
    return verb.capitalize(), f"{one} {target} or {other} {again}"


def _join(*parts: str) -> str:
    return " ".join(part for part in parts if part)
