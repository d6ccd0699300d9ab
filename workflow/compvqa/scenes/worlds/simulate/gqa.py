"""Scenes as in GQA's files, drawn from what nouns, attributes and relations are listed and how often."""

from __future__ import annotations

from array import array
from collections import Counter
from functools import cache
from itertools import accumulate, combinations
from math import floor, log
from random import Random

from compvqa.scenes.readers.gqa import SPATIAL
from compvqa.seeds import generator

SETTINGS = 60  # kinds of scenes: a street, a kitchen …
# how unequal nouns are in a setting (73 % of a scene's objects then differ in name; 76 % in real scenes), and as the
# target of a noun's relations (of 1,574 relations 14 % recur in another scene; of as many real ones 17 %)
HOME, COMPANY = 1.4, 3
ATTRIBUTES = 40  # that a noun can have, some of them seldom
RELATIONS = 8  # that are usual between two categories of nouns
USUAL, LIKELY = 0.75, 0.93  # how often a pair of nouns has its own relation, or one of its categories
SHAPE = 5  # of the gamma distribution of a scene's objects, whose deviation is then 0.45 of the mean
MOST = 80  # objects
N_ATTRIBUTES = (0.44, 0.79, 0.91, 0.965, 0.99, 1.0)  # share of objects with at most 0, 1, … attributes
SIZES = ((500, 375), (500, 333), (500, 500), (375, 500), (640, 480), (800, 600))  # pixels
SMALLEST, SPREAD = 0.03, 30  # a box's side: log-uniform from this share of the picture's to so many times as much
FIRST_SCENE = 2_300_000
FIRST_OBJECT = 1_000_000

Scene = tuple[str, dict]


class World:
    """What keeps company with what, and the scenes that follow from it.

    Everything is drawn by the seed and a key of its own, so a scene is the same whatever else is drawn.
    """

    def __init__(
        self,
        frequencies: dict[str, dict[str, int]],
        categories: dict[str, str],
        objects: float,
        relations: float,
        spatial: float,
        seed: int,
    ):
        self.objects, self.relations, self.spatial, self.seed = objects, relations, spatial, seed
        self.nouns = list(frequencies["nouns"])
        self.categories = [categories[noun] for noun in self.nouns]
        self.noun_counts = list(frequencies["nouns"].values())
        self.attribute_names = list(frequencies["attributes"])
        self.attribute_weights = list(accumulate(frequencies["attributes"].values()))
        kept = {name: count for name, count in frequencies["relations"].items() if name not in SPATIAL}
        self.relation_names = list(kept)
        self.relation_weights = list(accumulate(kept.values()))
        self.setting = cache(self._setting)
        self.attributes_of = cache(self._attributes_of)
        self.usual = cache(self._usual)
        self.company = cache(self._company)

    def scene(self, number: int, counts: Counter[str]) -> Scene:
        """The id and the record of a scene; adds to ``counts`` what it holds."""
        rng = generator(self.seed, "simulate scene", number)
        width, height = rng.choice(SIZES)
        n = min(MOST, max(1, round(rng.gammavariate(SHAPE, self.objects / SHAPE))))
        weights = self.setting(rng.randrange(SETTINGS))
        nouns = rng.choices(range(len(self.nouns)), cum_weights=weights, k=n)
        keys = [str(FIRST_OBJECT + number * MOST + place) for place in range(n)]
        items = [self._object(noun, width, height, rng) for noun in nouns]
        spatial = self._add_spatial(items, keys, rng)
        relations = self._add_relations(items, keys, nouns, rng)
        counts["GQA scenes"] += 1
        counts["GQA objects"] += n
        counts["GQA attributes"] += sum(len(item["attributes"]) for item in items)
        counts["GQA relations: to the left or right of"] += spatial
        counts["GQA relations"] += relations
        record = {"width": width, "height": height, "objects": dict(zip(keys, items, strict=True))}
        return str(FIRST_SCENE + number), record

    def _object(self, noun: int, width: int, height: int, rng: Random) -> dict:
        w, h = (max(1, round(side * SMALLEST * SPREAD ** rng.random())) for side in (width, height))
        share = rng.random()
        number = next(n for n, most in enumerate(N_ATTRIBUTES) if share <= most)
        names, weights = self.attributes_of(noun)
        return {
            "name": self.nouns[noun],
            "x": rng.randrange(width - w + 1),
            "y": rng.randrange(height - h + 1),
            "w": w,
            "h": h,
            "attributes": list(dict.fromkeys(rng.choices(names, cum_weights=weights, k=number))),
            "relations": [],
        }

    def _add_spatial(self, items: list[dict], keys: list[str], rng: Random) -> int:
        """Say of some pairs which is on the left, both ways as GQA does; the number of relations."""
        pairs = list(combinations(range(len(items)), 2))
        chosen = rng.sample(pairs, min(len(pairs), round(self.spatial * len(items) / 2)))
        middles = [2 * item["x"] + item["w"] for item in items]
        for pair in chosen:
            left, right = sorted(pair, key=middles.__getitem__)
            items[left]["relations"].append({"object": keys[right], "name": SPATIAL[0]})
            items[right]["relations"].append({"object": keys[left], "name": SPATIAL[1]})
        return 2 * len(chosen)

    def _add_relations(self, items: list[dict], keys: list[str], nouns: list[int], rng: Random) -> int:
        """Relate each object to as many others as a geometric distribution says; the number of relations."""
        total = 0
        if not self.relations:
            return total
        base = log(self.relations / (1 + self.relations))
        for subject, noun in enumerate(nouns):
            number = min(len(items) - 1, floor(log(1 - rng.random()) / base))
            if not number:
                continue
            company, own = self.company(noun)
            weights = [company[other] for other in nouns]
            weights[subject] = 0
            for _ in range(number):
                target = rng.choices(range(len(items)), weights)[0]
                weights[target] = 0
                name = self._relation(noun, nouns[target], own[nouns[target]], rng)
                items[subject]["relations"].append({"object": keys[target], "name": name})
            total += number
        return total

    def _relation(self, subject: int, target: int, own: int, rng: Random) -> str:
        usual = self.usual(self.categories[subject], self.categories[target])
        luck = rng.random()
        if luck < USUAL:
            return usual[own]
        if luck < LIKELY:
            return rng.choice(usual)
        return rng.choices(self.relation_names, cum_weights=self.relation_weights)[0]

    def _setting(self, number: int) -> list[float]:
        """How likely each noun is in a kind of scene, cumulated: some categories and some nouns are at home in it."""
        rng = generator(self.seed, "simulate setting", number)
        homely = {category: _skewed(rng, HOME) for category in dict.fromkeys(self.categories)}
        weights = (
            count * homely[category] * _skewed(rng, HOME)
            for count, category in zip(self.noun_counts, self.categories, strict=True)
        )
        return list(accumulate(weights))

    def _attributes_of(self, noun: int) -> tuple[list[str], list[float]]:
        """The attributes of a noun, and their weights (by Zipf's law), cumulated."""
        rng = generator(self.seed, "simulate attributes", self.nouns[noun])
        drawn = rng.choices(self.attribute_names, cum_weights=self.attribute_weights, k=2 * ATTRIBUTES)
        names = list(dict.fromkeys(drawn))[:ATTRIBUTES]
        return names, list(accumulate(1 / rank for rank in range(1, len(names) + 1)))

    def _usual(self, subject: str, target: str) -> list[str]:
        """The usual relations between two categories; the same one may be among them more than once."""
        rng = generator(self.seed, "simulate relations", subject, target)
        return rng.choices(self.relation_names, cum_weights=self.relation_weights, k=RELATIONS)

    def _company(self, noun: int) -> tuple[array, bytes]:
        """How readily the noun is related to each other one, and which of the usual relations each pair has."""
        rng = generator(self.seed, "simulate company", self.nouns[noun])
        kind = {category: _skewed(rng, COMPANY) for category in dict.fromkeys(self.categories)}
        weights = array("f", (kind[category] * _skewed(rng, COMPANY) for category in self.categories))
        return weights, bytes(rng.randrange(RELATIONS) for _ in self.nouns)


def _skewed(rng: Random, exponent: float) -> float:
    """A weight from 1 to 50 to the exponent: half of them below 2, one of ten above 8, to the exponent."""
    return (1 - 0.98 * rng.random()) ** -exponent
