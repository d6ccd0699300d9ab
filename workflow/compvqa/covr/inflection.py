"""What the text needs to know of English words: plurals, articles, and the forms of relations.

The library ``inflect`` knows plurals and articles; here is what it does not: which nouns are plural already,
which take no article, and which relation names are verbs. Results are cached, as ``inflect`` is slow.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import inflect

_LISTS = json.loads((resources.files("compvqa.covr") / "inflection.json").read_text(encoding="utf-8"))


def _words(name: str) -> frozenset[str]:
    return frozenset(word for line in _LISTS[name] for word in line.split())


PLURALS = _words("plurals")
SINGULARS = _words("singulars")  # that look like plurals
PLURALS_LIKE_SINGULARS = _words("plurals_like_singulars")  # in -as, -is, -us
MASS = _words("mass")  # no article, no plural
NOT_VERBS = _words("not_verbs")  # in -s, begin a relation without being a verb
BASE_VERBS = _words("base_verbs")  # begin a relation in their plural form: "hold", "sit on"
BARE_AFTER = _words("bare_after")  # after a relation that ends in one, a noun has no article
MEN, WOMEN, PERSONS = _words("men"), _words("women"), _words("persons")  # who is not an "it"
FINITE = {"has": "have", "have": "have", "is": "are", "are": "are", "does": "do", "goes": "go"}
SINGULAR_VERBS = {"have": "has", "are": "is"}
BARE = frozenset({"with", "without", "of"})  # relations that follow a noun without "that is"


@cache
def _engine() -> inflect.engine:
    import typeguard

    # inflect has its own calls checked, and rewriting them for that takes nine tenths of the seconds of its import
    checking: Any = typeguard
    checked, checking.typechecked = checking.typechecked, lambda function: function
    try:
        import inflect
    finally:
        typeguard.typechecked = checked
    return inflect.engine()


@cache
def is_plural(noun: str) -> bool:
    """Whether the noun is plural as it stands: "glasses", "people", "trees"."""
    head = noun.split(" of ")[0].split(" ")[-1].lower()
    if head in PLURALS or head in PLURALS_LIKE_SINGULARS:
        return True
    if head in SINGULARS or head in MASS or head.endswith(("ss", "us", "is", "as")):
        return False
    if not head.endswith("s"):
        return head.endswith("men")
    singular = _engine().singular_noun(head)
    return bool(singular) and singular != head


@cache
def plural(noun: str) -> str:
    """The noun's plural; only its head changes: "coffee tables", "bunches of grapes", "people"."""
    return noun if is_plural(noun) or noun in MASS else _engine().plural_noun(noun)


@cache
def article(noun: str, following: str) -> str:
    """``following``, which begins the phrase of ``noun``, with "a" or "an" where the noun takes one."""
    if is_plural(noun) or noun in MASS or noun.split(" ")[-1] in MASS:
        return following
    return _engine().a(following)


def be(noun: str, number: str) -> str:
    """ "is" or "are" for the noun in that number."""
    return "are" if number == "plural" or is_plural(noun) else "is"


@cache
def predicate_verb(relation: str, verb: str) -> str:
    """The relation as a predicate; ``verb`` is "is" or "are": "is on", "are wearing", "wears", "have"."""
    first, _, rest = relation.partition(" ")
    tail = f" {rest}" if rest else ""
    if is_finite(relation):
        return (_base(first) if verb == "are" else _third_person(first)) + tail
    return f"{verb} {relation}"


@cache
def question_verb(relation: str, verb: str) -> tuple[str, str]:
    """The relation in a question, around its subject: ("is", "on"), ("do", "wear"); ``verb`` is "is" or "are"."""
    if not is_finite(relation):
        return verb, relation
    first, _, tail = predicate_verb(relation, "are").partition(" ")
    if first == "are":
        return verb, tail
    return ("do" if verb == "are" else "does"), f"{first} {tail}".rstrip()


@cache
def split_determiner(relation: str) -> tuple[str, str]:
    """The relation without a determiner at its end, and the determiner: ("flapping", "its"), ("on", "")."""
    start, _, last = relation.rpartition(" ")
    return (start, last) if start and last in BARE_AFTER else (relation, "")


@cache
def pronoun(noun: str) -> str:
    """What stands for the noun as an object: "it", "them", "him", "her"."""
    head = noun.split(" of ")[0].split(" ")[-1].lower()
    if head in MEN:
        return "him"
    if head in WOMEN:
        return "her"
    return "them" if head in PERSONS or is_plural(noun) else "it"


@cache
def is_finite(relation: str) -> bool:
    """Whether the relation's name begins with a finite verb: "wears", "has", "sits on", "hold"."""
    first = relation.split(" ")[0]
    if first in FINITE or first in BASE_VERBS:
        return True
    return first.endswith("s") and not first.endswith("ss") and first not in NOT_VERBS and len(first) > 3


def _base(verb: str) -> str:
    """The plural form of a verb."""
    if verb in FINITE or verb in BASE_VERBS:
        return FINITE.get(verb, verb)
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    if verb.endswith(("ches", "shes", "sses", "xes", "zes")):
        return verb[:-2]
    return verb[:-1]


def _third_person(verb: str) -> str:
    """The singular form of a verb."""
    if verb in BASE_VERBS:
        return verb[:-1] + "ies" if verb.endswith("ry") else verb + ("es" if verb.endswith("ch") else "s")
    return SINGULAR_VERBS.get(verb, verb)


@cache
def group_name(group: str) -> str:
    """An attribute group in words: "face expression", "sport activity"."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in group).strip()


@cache
def follows_noun(attribute: str) -> bool:
    """Whether an attribute stands after its noun ("that is looking up"), not before it."""
    first, _, rest = attribute.partition(" ")
    return bool(rest) and first.endswith("ing")
