"""How far relations exclude each other, told from their words alone.

A relation is read as a verb, a preposition, or both ("sitting on"). Prepositions fall into places (on, in,
under …). The rules follow how people annotate (COVR, App. A): a specific relation ("sitting on") is not
annotated by a vague place ("near"), while a vague place may stand for any specific one, so it excludes only
its opposite.
"""

from __future__ import annotations

from functools import lru_cache

PLACES = {
    "on": ("on", "on top of", "atop", "onto"),
    "in": ("in", "inside", "within", "inside of", "into"),
    "under": ("under", "below", "underneath", "beneath"),
    "above": ("above", "over"),
    "near": ("near", "next to", "beside", "by", "close to", "alongside", "along", "around", "on the side of"),
    "front": ("in front of",),
    "behind": ("behind", "in back of"),
    "loose": (
        "with",
        "of",
        "at",
        "has",
        "from",
        "between",
        "to",
        "for",
        "against",
        "through",
        "across",
        "off",
    ),
}
VAGUE = frozenset(name for names in PLACES.values() for name in names)
# x excludes y: place of x -> places of y, when x is a bare preposition
OPPOSITES = {
    "on": {"under"},
    "in": {"behind"},
    "under": {"above", "on"},
    "above": {"under", "behind"},
    "front": set(),
    "behind": {"above", "in"},
}
# the same when x says more than the place: "sitting on" is not annotated as "next to"
SPECIFIC = {
    "on": {"near", "under", "front", "behind"},
    "in": {"near", "under", "behind"},
    "under": {"above", "on"},
    "above": {"under", "behind"},
    "near": {"under"},
    "front": {"under"},
    "behind": {"above", "in"},
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


POSTURES = _words(
    "sitting standing lying walking running jumping riding flying swimming sleeping kneeling crouching "
    "hanging parked surfing skating skiing playing floating resting perched grazing"
)
SAME_POSTURE = (_words("lying sleeping resting"), _words("sitting perched resting"))
CARRIED = _words("riding standing sitting skating surfing skiing")  # one may ride standing or sitting
SENSES = _words("looking watching facing staring observing seen photographing smiling listening")
JOINED = _words("attached connected mounted tied hung covered covering filled surrounded surrounding worn")


@lru_cache(maxsize=100_000)
def parts(name: str) -> tuple[str, str]:
    """The verb ("" for none) and the place ("" for none) that a relation's name says."""
    words = name.split()
    for start in range(len(words)):
        tail = " ".join(words[start:])
        for place, names in PLACES.items():
            if tail in names:
                return " ".join(words[:start]), place
    return name, ""


def implied(name: str) -> set[str]:
    """The relations that a relation's words say beside it: "sitting on" is sitting, and on. Who looks out of a window
    is not out of it, and a loose preposition belongs to its verb."""
    verb, place = parts(name)
    if not verb or place in ("", "loose") or verb.split()[0] in SENSES:
        return set()
    return {verb, name[len(verb) :].strip()}


def exclusive(x: str, y: str, shared: bool) -> float:
    """m(x, y) for two relations of which neither entails the other.

    ``shared``: both entail something that is more than a place. Two actions of one pair of things are as
    often both true as not ("holding", "opening"), so they exclude each other only if both are postures.
    """
    verb_x, place_x = parts(x)
    verb_y, place_y = parts(y)
    if not verb_x:
        return 0.9 if place_y in OPPOSITES.get(place_x, ()) else 0.2
    if not verb_y:
        return _verb_to_place(verb_x, place_x, place_y)
    return _verbs(verb_x, place_x, verb_y, place_y, shared)


def _verb_to_place(verb: str, place_x: str, place_y: str) -> float:
    first = verb.split()[0]
    if first in SENSES or first in JOINED:
        return 0.2
    if place_x == "loose":
        return 0.4
    if place_x:
        return 0.8 if place_y in SPECIFIC[place_x] else 0.2
    return 0.7 if place_y in ("near", "front", "behind", "above", "under") else 0.4


def _verbs(verb_x: str, place_x: str, verb_y: str, place_y: str, shared: bool) -> float:
    first_x, first_y = verb_x.split()[0], verb_y.split()[0]
    if first_x == first_y or shared:
        return 0.6 if place_y in SPECIFIC.get(place_x, ()) else 0.2
    if first_x in POSTURES and first_y in POSTURES:
        carried = first_x in CARRIED and first_y in CARRIED and "riding" in (first_x, first_y)
        return 0.2 if carried or any(first_x in same and first_y in same for same in SAME_POSTURE) else 0.9
    if {first_x, first_y} & (SENSES | JOINED):
        return 0.2
    return 0.4
