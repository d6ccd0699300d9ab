"""What there is in the sprites world: nouns, attributes, relations, and what a lexicon knows about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

GROUPS: dict[str, tuple[str, ...]] = {
    "color": ("red", "orange", "yellow", "green", "blue", "purple", "brown", "black", "white", "gray"),
    "material": ("wooden", "metal", "plastic"),
    "pattern": ("striped", "dotted", "plain"),
    "size": ("small", "large"),
    "pose": ("standing", "sitting", "lying"),
}
GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}

BRIGHT = ("red", "blue", "yellow", "green", "purple", "white")
PEOPLE = ("man", "woman", "boy", "girl")


@dataclass(frozen=True)
class Noun:
    """A kind of thing: how annotators may call it, and which attributes it can have.

    ``colors``, ``patterns`` and ``materials`` list the values in falling frequency; an empty tuple means that
    the group does not apply. ``patterns`` leave out "plain", which is what a thing without marks is.
    """

    name: str
    hypernyms: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    colors: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    materials: tuple[str, ...] = ()
    sized: bool = False
    countable: bool = True
    wordnet: str = ""


MARKS = ("striped", "dotted")
FURNITURE = ("wooden", "metal", "plastic")
_NOUNS = (
    Noun("man", ("person",), wordnet="n10287213"),
    Noun("woman", ("person",), wordnet="n10787470"),
    Noun("boy", ("child", "person"), wordnet="n10285313"),
    Noun("girl", ("child", "person"), wordnet="n10129825"),
    Noun("dog", ("animal",), colors=("brown", "black", "white"), sized=True, wordnet="n02084071"),
    Noun("cat", ("animal",), colors=("orange", "black", "white", "gray"), wordnet="n02121620"),
    Noun("horse", ("animal",), colors=("brown", "white", "black"), wordnet="n02374451"),
    Noun("sheep", ("animal",), colors=("white", "black"), wordnet="n02411705"),
    Noun("bird", ("animal",), colors=("red", "blue", "yellow", "black"), wordnet="n01503061"),
    Noun("table", ("furniture",), ("desk",), BRIGHT[:4], materials=FURNITURE, wordnet="n04379243"),
    Noun("chair", ("furniture",), ("seat",), BRIGHT[:5], materials=FURNITURE, wordnet="n03001627"),
    Noun("bench", ("furniture",), (), BRIGHT[:4], materials=FURNITURE, wordnet="n02828884"),
    Noun("sofa", ("furniture",), ("couch",), ("red", "blue", "green", "purple", "gray"), MARKS),
    Noun("lamp", (), (), ("yellow", "red", "blue", "green"), ("striped",)),
    Noun("cup", ("container",), ("mug",), BRIGHT, MARKS, wordnet="n03147509"),
    Noun("bottle", ("container",), (), ("green", "blue", "red", "yellow"), wordnet="n02876657"),
    Noun("vase", ("container",), ("pot",), BRIGHT[:5], MARKS, wordnet="n04522168"),
    Noun("bowl", ("container",), ("dish",), BRIGHT, ("striped",), wordnet="n02881193"),
    Noun("box", ("container",), ("crate",), BRIGHT, (), FURNITURE, sized=True, wordnet="n02883344"),
    Noun("basket", ("container",), (), ("brown", "red", "blue", "white"), sized=True, wordnet="n02801938"),
    Noun("tree", ("plant",), (), ("green", "orange", "yellow"), sized=True, wordnet="n13104059"),
    Noun("bush", ("plant",), ("shrub",), ("green", "orange"), sized=True, wordnet="n13112664"),
    Noun("flower", ("plant",), ("blossom",), ("red", "yellow", "purple", "white"), wordnet="n11669921"),
    Noun(
        "car",
        ("vehicle",),
        ("automobile",),
        ("red", "blue", "white", "yellow", "black"),
        ("striped",),
        wordnet="n02958343",
    ),
    Noun("truck", ("vehicle",), ("lorry",), BRIGHT[:4], ("striped",), wordnet="n04490091"),
    Noun("bicycle", ("vehicle",), ("bike",), ("red", "blue", "green", "black")),
    Noun("ball", ("toy",), (), BRIGHT, MARKS, (), sized=True, wordnet="n02778669"),
    Noun("kite", ("toy",), (), BRIGHT[:5], MARKS, (), sized=True),
    Noun("balloon", ("toy",), (), BRIGHT[:5], ("dotted",), (), sized=True, wordnet="n02782093"),
    Noun("umbrella", (), ("parasol",), BRIGHT, MARKS),
    Noun("hat", ("clothing",), ("cap",), ("red", "blue", "yellow", "black", "white"), MARKS),
    Noun("shirt", ("clothing",), ("top",), ("blue", "red", "white", "yellow", "green"), MARKS),
    Noun("dress", ("clothing",), ("gown",), ("red", "purple", "blue", "yellow", "white"), MARKS),
    Noun("book", (), (), ("red", "blue", "green", "yellow"), wordnet="n02870092"),
    Noun("apple", ("fruit", "food"), (), ("red", "green", "yellow"), wordnet="n07739125"),
    Noun("watering can", ("container",), (), ("green", "blue", "red"), wordnet="n04560292"),
    Noun("hose", (), ("pipe",), ("green", "red"), wordnet="n03539875"),
    Noun("jug", ("container",), ("pitcher",), ("blue", "white", "red"), wordnet="n03603722"),
    Noun("water", ("liquid",), countable=False, wordnet="n14845743"),
    Noun("milk", ("liquid",), countable=False, wordnet="n07844042"),
    Noun("juice", ("liquid",), countable=False, wordnet="n07923748"),
    Noun("paintbrush", ("tool",), ("brush",), wordnet="n03876231"),
    Noun("paint roller", ("tool",), ("roller",), wordnet="n03877229"),
    Noun("carrot", ("vegetable", "food"), wordnet="n07730207"),
    Noun("bread", ("food",), ("loaf",), countable=False, wordnet="n07679356"),
    Noun("cake", ("food",), (), wordnet="n07628870"),
    Noun("knife", ("tool",), ("blade",), wordnet="n03623556"),
    Noun("saw", ("tool",), (), wordnet="n04140064"),
    Noun("log", (), ("trunk",), wordnet="n14942762"),
    Noun("bat", (), ("baseball bat",), ("brown",), wordnet="n02799175"),
    Noun("racket", (), (), ("red", "blue"), wordnet="n04039381"),
    Noun("drum", (), (), ("red", "blue"), wordnet="n03249569"),
    Noun("stick", (), (), wordnet="n04317420"),
    Noun("rope", (), ("cord",), wordnet="n04108268"),
    Noun("leash", (), ("lead",), ("red", "blue"), wordnet="n03652932"),
    Noun("sled", ("vehicle",), ("sledge",), ("red", "blue", "yellow"), wordnet="n04235291"),
    Noun("camera", (), (), wordnet="n02942699"),
    Noun("phone", (), ("cellphone",), wordnet="n02992529"),
)
NOUNS: dict[str, Noun] = {noun.name: noun for noun in _NOUNS}
PLACES = {"garden": "n03417345", "kitchen": "n03619890", "park": "n08615149", "field": "n08569998"}
# names that imSitu's annotators may choose besides
MORE_WORDNET = {
    "person": "n00007846",
    "child": "n09917593",
    "animal": "n00015388",
    "plant": "n00017222",
    "container": "n03094503",
    "vehicle": "n04524313",
    "tool": "n04451818",
    "food": "n00021265",
    "fruit": "n13134947",
    "vegetable": "n07707451",
    "liquid": "n14940386",
    "toy": "n03964744",
    "mug": "n03797390",
    "pitcher": "n03950228",
    "brush": "n02908217",
    "cord": "n03106110",
    "crate": "n03127925",
}
# imSitu's space of nouns: name -> WordNet id
WORDNET = {**{noun.name: noun.wordnet for noun in _NOUNS if noun.wordnet}, **PLACES, **MORE_WORDNET}
FACETS = {
    "man": {"sex": "male", "age": "adult"},
    "woman": {"sex": "female", "age": "adult"},
    "boy": {"sex": "male", "age": "child"},
    "girl": {"sex": "female", "age": "child"},
    "child": {"age": "child"},
}

MASS_HYPERNYMS = ("furniture", "clothing", "fruit", "food", "liquid")

# relation -> what else is then true, more generally said
# (synonyms entail each other)
ON = ("on", "on top of")
ENTAILS: dict[str, tuple[str, ...]] = {
    "on": ("on top of",),
    "on top of": ("on",),
    "in": ("inside",),
    "inside": ("in",),
    "under": (),
    "next to": ("beside", "near"),
    "beside": ("next to", "near"),
    "near": (),
    "behind": ("near",),
    "in front of": ("near",),
    "holding": (),
    "wearing": (),
    "riding": ON,
    "sitting on": ON,
    "standing on": ON,
    "lying on": ON,
    "flying": (),
    "kicking": (),
}
POSITIONS = frozenset({"next to", "behind", "in front of", "under"})
GENERAL_RELATIONS = {
    "riding": "on",
    "sitting on": "on",
    "standing on": "on",
    "lying on": "on",
    "next to": "near",
}
# what annotators may write by mistake
CONFUSED_RELATIONS: dict[str, tuple[str, ...]] = {
    "on": ("under", "next to", "in"),
    "in": ("on", "behind", "next to"),
    "under": ("on", "behind"),
    "next to": ("behind", "in front of", "on"),
    "behind": ("in front of", "next to"),
    "in front of": ("behind", "next to"),
    "holding": ("wearing", "next to"),
    "wearing": ("holding",),
    "riding": ("next to", "holding"),
    "sitting on": ("standing on", "lying on"),
    "standing on": ("sitting on", "lying on"),
    "lying on": ("sitting on", "under"),
    "flying": ("holding",),
    "kicking": ("holding",),
}
RELATION_SYNONYMS = {"in": "inside", "on": "on top of", "next to": "beside"}
# pairs that may hold at once, beyond what entailment gives
RELATION_OVERLAPS = (
    ("kicking", "next to"),
    ("kicking", "beside"),
    ("kicking", "near"),
    ("holding", "near"),
    ("holding", "under"),
    ("holding", "flying"),
    ("under", "near"),
)


def lexicon(verbs: dict[str, tuple[str, ...]]) -> dict:
    """The lexicon of the sprites world; ``verbs`` are the ternary relations with what each entails."""
    return {
        "complete": True,
        "nouns": dict(sorted(_noun_entries())),
        "attributes": {name: {"group": group, "overlaps": []} for group, names in GROUPS.items() for name in names},
        "relations": _relation_entries(verbs),
    }


def family(noun: Noun) -> frozenset[str]:
    """Every name that may be used for a thing of this kind."""
    return frozenset((noun.name, *noun.synonyms, *noun.hypernyms))


def _noun_entries() -> Iterator[tuple[str, dict]]:
    names = {name for noun in _NOUNS for name in family(noun)} | PLACES.keys()
    for name in sorted(names):
        kinds = [noun for noun in _NOUNS if name in family(noun)]
        overlaps = set().union(*(family(noun) for noun in kinds)) - {name}
        own = [noun for noun in kinds if name == noun.name or name in noun.synonyms]
        synonyms = {other for noun in own for other in (noun.name, *noun.synonyms)} - {name}
        hypernyms = {other for noun in own for other in noun.hypernyms}
        if not own:  # a hypernym: above it is what all of its kinds share
            shared = set.intersection(*(set(noun.hypernyms) for noun in kinds)) if kinds else set()
            hypernyms = {other for other in shared - {name} if _breadth(other) > _breadth(name)}
        countable = all(noun.countable for noun in kinds) and name not in MASS_HYPERNYMS
        yield (
            name,
            {
                "overlaps": sorted(overlaps),
                "hypernyms": sorted(hypernyms),
                "synonyms": sorted(synonyms),
                "countable": countable,
                "facets": FACETS.get(name, {}),
            },
        )


def _breadth(hypernym: str) -> int:
    return sum(hypernym in noun.hypernyms for noun in _NOUNS)


def _relation_entries(verbs: dict[str, tuple[str, ...]]) -> dict[str, dict]:
    entails = {**ENTAILS, **verbs}
    overlaps: dict[str, set[str]] = {name: set() for name in entails}
    pairs = [(verb, other) for verb in verbs for other in ("holding", *POSITIONS, "near", "beside")]
    for one, other in (*RELATION_OVERLAPS, *pairs):
        overlaps[one].add(other)
        overlaps[other].add(one)
    synonyms = {**RELATION_SYNONYMS, **{other: name for name, other in RELATION_SYNONYMS.items()}}
    return {
        name: {
            "entails": sorted(general),
            "overlaps": sorted(overlaps[name]),
            "synonyms": [synonyms[name]] if name in synonyms else [],
        }
        for name, general in sorted(entails.items())
    }
