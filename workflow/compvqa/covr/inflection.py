"""What the text needs to know of English words: plurals, articles, possessives, and the forms of relations.

The library ``inflect`` knows plurals and articles; here is what it does not: which nouns are plural already,
which take no article, which attributes stand after their noun, and which relation names are verbs. Results are
cached, as ``inflect`` is slow.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from compvqa.scenes.word_forms import inflector

_LISTS = json.loads((resources.files("compvqa.covr") / "inflection.json").read_text(encoding="utf-8"))


def _words(name: str) -> frozenset[str]:
    return frozenset(word for line in _LISTS[name] for word in line.split())


PLURALS = _words("plurals")
SINGULARS = _words("singulars")  # that look like plurals
PLURALS_LIKE_SINGULARS = _words("plurals_like_singulars")  # in -as, -is, -us
MASS = _words("mass")  # no article, no plural
IRREGULAR = dict(
    zip(_LISTS["irregular"][0].split(), _LISTS["irregular"][1].split(), strict=True)
)  # not as inflect says
SPELLED = _words("spelled")  # said letter by letter: "an xbox", "an mp3 player"
PREPOSITIONS, PARTICLES = (
    _words("prepositions"),
    _words("particles"),
)  # what begins, and ends, an attribute after its noun
SEPARABLE = _words("separable")  # particles that follow the object of their verb: "picking it up"
PREDICATES = _words("predicates")  # attributes that never stand before a noun
NUMBERED = _words("numbered")  # begin a name that has its number or its determiner with it: "two men"
CLAUSES = _words("clauses")  # make a name a clause: "glasses are empty"
NO_ATTRIBUTES = _words("no_attributes")  # annotated as attributes, and tell nothing of an object
NO_RELATIONS = _words("no_relations")  # the same of relations
NO_NOUNS = _words("no_nouns")  # the same of nouns, or the one thing of its name
PAIRED = _words("paired")  # of which who has one has two
BODY_PARTS = _words("body_parts")  # of people and animals
USED_TOGETHER = _words("used_together")  # parts of which who does something with them uses both: "using her eyes"
STATES = _words("states")  # nouns that a preposition makes a state of: "in motion"
NOT_VERBS = _words("not_verbs")  # in -s, begin a relation without being a verb
BASE_VERBS = _words("base_verbs")  # begin a relation in their plural form: "hold", "sit on"
BARE_AFTER = _words("bare_after")  # after a relation that ends in one, a noun has no article
MEN, WOMEN, PERSONS = _words("men"), _words("women"), _words("persons")  # who is not an "it"
FINITE = {"has": "have", "have": "have", "is": "are", "are": "are", "does": "do", "goes": "go"}
SINGULAR_VERBS = {"have": "has", "are": "is"}
BARE = frozenset({"with", "without", "of"})  # relations that follow a noun without "that is"
POSSESSIVES = frozenset({"his", "her", "its", "their"})  # say whose in the words of one subject, here of any
INSTRUMENTS = frozenset({"with", "using"})  # before what something is done with


@cache
def head_noun(noun: str) -> str:
    """The word that bears the number: of "bunch of grapes" it is "bunch", of "man riding a horse" "man"."""
    words = noun.lower().split(" ")
    ends = (
        n for n, word in enumerate(words) if n and (word in PREPOSITIONS or word in ("riding", "wearing", "holding"))
    )
    return words[next(ends, len(words)) - 1]


@cache
def is_plural(noun: str) -> bool:
    """Whether the noun is plural as it stands: "glasses", "people", "trees"."""
    head = head_noun(noun)
    if head in PLURALS or head in PLURALS_LIKE_SINGULARS:
        return True
    if head in SINGULARS or head in MASS or head.endswith(("ss", "us", "is", "as")):
        return False
    if not head.endswith("s"):
        return head.endswith("men") or head == "personnel"
    singular = inflector().singular_noun(head)
    return bool(singular) and singular != head


@cache
def is_mass(noun: str) -> bool:
    """Whether the noun has no plural and takes no "a": "water", "hot water", not "water bottle"."""
    return noun in MASS or head_noun(noun) in MASS


@cache
def plural(noun: str) -> str:
    """The noun's plural; only its head changes: "coffee tables", "bunches of grapes", "people"."""
    if is_plural(noun) or is_mass(noun):
        return noun
    head = head_noun(noun)
    at = noun.lower().split(" ").index(head)
    words = noun.split(" ")
    words[at] = IRREGULAR.get(head) or inflector().plural_noun(words[at])
    return " ".join(words)


@cache
def article(noun: str, following: str) -> str:
    """``following``, which begins the phrase of ``noun``, with "a" or "an" where the noun takes one."""
    if is_plural(noun) or is_mass(noun):
        return following
    first = following.split(" ")[0].split("-")[0].lower()
    if first in SPELLED:
        return f"{'an' if first[0] in 'aefhilmnorsx' else 'a'} {following}"
    if first.isdigit():
        return f"{'an' if first[0] == '8' or first in ('11', '18') else 'a'} {following}"
    return inflector().a(following)


@cache
def unsayable(kind: str, name: str) -> bool:
    """Whether a name of a kind ("noun", "attribute", "relation") is none that a sentence can be made with.

    Annotators wrote whole clauses as nouns ("glasses are empty"), numbers ("two men") and halves of phrases.
    """
    words = name.lower().split()
    if not words or words[0] in NUMBERED:
        return True
    if kind == "relation":
        return name in NO_RELATIONS or bool(NUMBERED.difference(BARE_AFTER).intersection(words))
    if CLAUSES.intersection(words):
        return True
    if kind == "noun":
        unique = sum(word[0].isupper() for word in name.split()) > 1  # "United States Army"
        return unique or words[0] in PREPOSITIONS or name.lower() in NO_NOUNS
    return name.endswith("'s") or name in NO_ATTRIBUTES or words[0] in ("being", "for")


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
def possessive(noun: str, verb: str) -> str:
    """Whose something is that is the noun's, where ``verb`` is its "is" or "are": "his", "her", "its", "their"."""
    stands_for = {"him": "his", "her": "her", "them": "their", "it": "its"}
    return "their" if verb == "are" else stands_for[pronoun(noun)]


@cache
def split_determiner(relation: str) -> tuple[str, str]:
    """The relation without a determiner at its end, and the determiner: ("flapping", "its"), ("on", "")."""
    start, _, last = relation.rpartition(" ")
    return (start, last) if start and last in BARE_AFTER else (relation, "")


@cache
def of_a_body(noun: str) -> bool:
    """Whether the noun is a part of a body: "hand", "left hand", not "hand mirror"."""
    return head_noun(noun) in BODY_PARTS


@cache
def pronoun(noun: str) -> str:
    """What stands for the noun as an object: "it", "them", "him", "her"."""
    head = head_noun(noun)
    if head in WOMEN or head.endswith("woman"):
        return "her"
    if head in MEN or (head.endswith("man") and head not in PERSONS):
        return "him"
    return "them" if head in PERSONS or is_plural(noun) else "it"


@cache
def takes_pronoun(relation: str) -> bool:
    """Whether a pronoun can follow the relation: "behind them", "holding it", not "picking up it"."""
    return relation.split(" ")[-1] not in SEPARABLE


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
    """An attribute group in words: "face expression", "sport activity"; GQA's "company" is a brand."""
    if group == "company":
        return "brand"
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in group).strip()


@cache
def follows_noun(attribute: str) -> bool:
    """Whether an attribute stands after its noun ("that is looking up", "that is made of wood"), not before it."""
    first, *rest = attribute.split(" ")
    if attribute == "off white":
        return False
    if attribute in PREDICATES or first in PREPOSITIONS or first == "not":
        return True
    particles = rest and (rest[-1] in PARTICLES or PREPOSITIONS.intersection(rest))
    return bool(particles or (rest and first.endswith("ing") and first not in NOT_VERBS))


@cache
def said_attribute(attribute: str) -> str:
    """An attribute as it is said of an object: "in photo" is "in the photo"."""
    first, _, rest = attribute.partition(" ")
    bare = first in PREPOSITIONS and rest and " " not in rest and not is_plural(rest) and not is_mass(rest)
    return f"{first} the {rest}" if bare and rest not in STATES else attribute
