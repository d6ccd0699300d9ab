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
# Verbs that one annotator writes where another writes another of the family; one may be in several families
FAMILIES = tuple(
    _words(line)
    for line in (
        "carrying clutching grasping gripping hoisting holding lifting taking",
        "carrying carting dragging hauling heaving pulling pushing shoving towing tugging wheeling yanking",
        "buffing cleaning drying dusting hosing mopping polishing rinsing scouring scrubbing shampooing soaping"
        " spraying sweeping vacuuming washing wiping",
        "biting chewing devouring dining drinking eating gulping licking nibbling sipping sucking swallowing tasting",
        "baking barbecuing boiling cooking flipping frying grilling heating mixing roasting stirring",
        "carving chopping clipping cutting mowing peeling sawing shaving shearing slicing snipping trimming",
        "breaking crushing demolishing destroying ripping shattering shredding smashing tearing",
        "adjusting attaching buckling fastening fixing inserting installing pinning securing tightening tying",
        "adjusting assembling building constructing erecting fixing making repairing",
        "arguing asking apologizing chatting coaching communicating counseling discussing educating encouraging"
        " giggling guiding helping instructing interviewing lecturing providing reassuring socializing speaking talking"
        " teaching telephoning training",
        "admonishing disciplining scolding spanking talking punishing",
        "calming caressing comforting cuddling embracing helping hugging kissing massaging nuzzling patting petting"
        " reassuring snuggling stroking tickling",
        "attacking beating hitting kicking pinching poking punching slapping spanking striking whipping",
        "apprehending arresting detaining handcuffing restraining subduing",
        "distributing giving handing offering presenting providing selling serving",
        "browsing buying paying shopping",
        "admiring checking examining inspecting measuring observing studying testing",
        "boating commuting driving paddling piloting riding rowing steering",
        "bouncing catapulting flinging hurling kicking launching pitching throwing tossing",
        "arranging filling loading packaging packing placing putting stacking stuffing unloading unpacking",
        "coloring decorating drawing painting signing sketching writing",
        "digging farming gardening harvesting picking planting plowing shoveling",
        "dripping leaking overflowing pouring spilling splashing sprinkling watering",
        "crossing descending falling jumping leaping plummeting walking",
    )
)
ANY_ACTION = _words(
    "doing enjoying feeling getting having helping making placing playing touching trying using working"
)
IN_HAND = _words(  # what is done with a thing that one holds
    "biting chewing drinking eating flying licking lighting opening operating reading serving smelling smoking"
    " spraying swinging tasting texting throwing writing"
)
VERBS = _words("wearing").union(POSTURES, SENSES, IN_HAND, *FAMILIES)
AUXILIARIES, ARTICLES = _words("is are was were"), _words("a an the")


def plain(name: str) -> str:
    """A relation without what says nothing of it: "are sitting on a" is "sitting on", and "have" is "has"."""
    words = name.split()
    while len(words) > 1 and words[0] in AUXILIARIES:
        del words[0]
    while len(words) > 1 and words[-1] in ARTICLES:
        del words[-1]
    return " ".join(["has" if word == "have" else word for word in words[:1]] + words[1:]) or name


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

    ``shared``: both entail something that is more than a place. Two actions of one pair of things exclude each
    other ("holding", "shredding"; "petting", "yanking") unless they are of one family ("washing", "scrubbing"), one is
    a word for nearly any action ("using"), or one is done with what is held ("holding", "eating").
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
    return 0.4 if _may_be_one(first_x, first_y) else 0.6


def _may_be_one(x: str, y: str) -> bool:
    """Whether two actions of one pair of things are often both true, or two words for the same."""
    if {x, y} & ANY_ACTION or any(x in family and y in family for family in FAMILIES):
        return True
    return "holding" in (x, y) and bool({x, y} & IN_HAND)
