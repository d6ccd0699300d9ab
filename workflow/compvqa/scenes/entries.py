"""What a lexicon's file holds.

It is JSON (sprites write their own; ``ontology.py`` makes one of GQA's ontology):

* ``nouns``: ``hypernyms``, ``synonyms``, ``overlaps``, ``excludes``, ``countable``, ``category``, ``facets``
  (sex and age of people);
* ``attributes``: ``group``, ``synonyms``, ``overlaps``, ``excludes``, ``similar`` (hard to tell apart);
* ``relations``: ``entails``, ``synonyms``, ``overlaps``, ``excludes``;
* ``complete``: whether the entries tell all that overlaps among their names; if not, rules on the words of
  relations go on where the entries end;
* ``parts``: category → categories whose things have such parts; ``blurred``: sets of categories whose
  members have no clear border ("ground", "field");
* ``senses``: what nouns mean, of which kinds that is and of what it is a part, as WordNet tells (``scenes/senses.py``).
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from compvqa.scenes.senses import SenseData


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    synonyms: list[str] = []
    overlaps: list[str] = []
    excludes: list[str] = []


class NounEntry(_Entry):
    hypernyms: list[str] = []
    countable: bool = True
    category: str | None = None
    facets: dict[str, str] = {}


class AttributeEntry(_Entry):
    group: str | None = None
    similar: list[str] = []


class RelationEntry(_Entry):
    entails: list[str] = []


class LexiconData(BaseModel):
    """The content of a lexicon's JSON file."""

    model_config = ConfigDict(extra="forbid")

    nouns: dict[str, NounEntry] = {}
    attributes: dict[str, AttributeEntry] = {}
    relations: dict[str, RelationEntry] = {}
    complete: bool = True
    parts: dict[str, list[str]] = {}
    blurred: list[list[str]] = []
    senses: SenseData = SenseData()
