"""Images as in imSitu's files: invented verbs with roles and sentences, and three annotators' frames an image."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import accumulate, product
from random import Random

from compvqa.seeds import generator

ONSETS = ("b", "br", "d", "dr", "f", "g", "gl", "k", "m", "pl", "str", "t")
VOWELS = ("a", "e", "o", "u")
CODAS = ("b", "d", "g", "lm", "mp", "nd", "nk", "rt", "sk", "st", "zz")
# as in imSitu: how many of its 504 verbs have 1, 2 … roles beside the place, the words before a role in a sentence
# and how many verbs have them, and how often a role is left empty
N_ROLES = {1: 80, 2: 164, 3: 175, 4: 78, 5: 7}
BEFORE = {"on": 12, "at": 10, "to": 8, "over": 5, "": 160}  # after the verb
MODIFIERS = {
    "tool": ("with", 97),
    "instrument": ("using", 81),
    "source": ("from", 43),
    "recipient": ("to", 31),
    "container": ("in", 23),
    "destination": ("into", 20),
    "surface": ("on", 15),
}
EMPTY = {"agent": 0.03, "item": 0.13, "place": 0.19}
EMPTY_MODIFIER = 0.22
ANIMATE = ("person", "animal")
POOL = 32  # nouns that fill a role
ZIPF = 1.3  # exponent of the nouns' frequencies in a role
AGREEMENT = 0.65  # how often an annotator gives the noun that the picture suggests
FRAMES = 3


class Situations:
    """The verbs, the nouns that fill their roles, and the images that follow from them."""

    def __init__(self, nouns: dict[str, int], categories: dict[str, str], seed: int):
        self.seed, self.nouns, self.categories = seed, nouns, categories
        self.ids = {noun: f"n{100_003 + 611 * number:08d}" for number, noun in enumerate(nouns)}
        self.verbs = [f"{''.join(parts)}ing" for parts in product(ONSETS, VOWELS, CODAS)][: sum(N_ROLES.values())]
        sizes = [size for size, verbs in N_ROLES.items() for _ in range(verbs)]
        generator(seed, "simulate verbs").shuffle(sizes)
        self.sentences = {verb: self._sentence(verb, size) for verb, size in zip(self.verbs, sizes, strict=True)}
        self.fillers = cache(self._fillers)

    def roles(self, verb: str) -> list[str]:
        """The roles of a verb, in the order of its sentence."""
        return [word.lower() for word in self.sentences[verb].split() if word.isupper()]

    def image(self, number: int, counts: Counter[str]) -> tuple[str, dict]:
        """The name and the record of an image; adds to ``counts``. The verbs take turns."""
        rng = generator(self.seed, "simulate image", number)
        verb = self.verbs[number % len(self.verbs)]
        seen = {role: self._noun(verb, role, rng) for role in self.roles(verb)}
        frames = [
            {role: noun if rng.random() < AGREEMENT else self._noun(verb, role, rng) for role, noun in seen.items()}
            for _ in range(FRAMES)
        ]
        counts["imSitu images"] += 1
        return f"{verb}_{number // len(self.verbs) + 1}.jpg", {"verb": verb, "frames": frames}

    def space(self) -> dict[str, dict]:
        """``imsitu_space.json``: verbs with roles and sentences, and nouns by WordNet id."""
        verbs = {
            verb: {
                "roles": {role: {"def": f"the {role} of {verb}"} for role in self.roles(verb)},
                "abstract": sentence,
                "order": self.roles(verb),
                "def": f"the invented verb {verb}",
            }
            for verb, sentence in self.sentences.items()
        }
        nouns = {
            number: {"gloss": [noun], "def": self.categories[noun] or "thing"} for noun, number in self.ids.items()
        }
        return {"verbs": verbs, "nouns": nouns}

    def templates(self) -> str:
        """``generation_templates.tab``."""
        return "".join(f"{verb}\t{sentence}\n" for verb, sentence in self.sentences.items())

    def _sentence(self, verb: str, size: int) -> str:
        rng = generator(self.seed, "simulate sentence", verb)
        words = ["AGENT", f"{verb[:-3]}s"]
        if size > 1:
            words += [*rng.choices(list(BEFORE), list(BEFORE.values()))[0].split(), "ITEM"]
        rest = {role: weight for role, (_, weight) in MODIFIERS.items()}
        for _ in range(size - 2):
            role = rng.choices(list(rest), list(rest.values()))[0]
            del rest[role]
            words += [MODIFIERS[role][0], role.upper()]
        return " ".join([*words, "at", "PLACE"])

    def _noun(self, verb: str, role: str, rng: Random) -> str:
        """The WordNet id of a noun for the role, or "" where there is nothing to say."""
        if rng.random() < EMPTY.get(role, EMPTY_MODIFIER):
            return ""
        nouns, weights = self.fillers(verb, role)
        return self.ids[rng.choices(nouns, cum_weights=weights)[0]]

    def _fillers(self, verb: str, role: str) -> tuple[list[str], list[float]]:
        """The nouns that fill a role of a verb, and their weights (by Zipf's law), cumulated."""
        rng = generator(self.seed, "simulate role", verb, role)
        fit = [n for n in self.nouns if role != "agent" or self.categories[n] in ANIMATE] or list(self.nouns)
        drawn = rng.choices(fit, [self.nouns[noun] for noun in fit], k=3 * POOL)
        nouns = list(dict.fromkeys(drawn))[:POOL]
        return nouns, list(accumulate(rank**-ZIPF for rank in range(1, len(nouns) + 1)))
