"""What a lexicon's file holds.

It is JSON (sprites write their own; ``ontology.py`` makes one of GQA's ontology). Its names are those of scenes
(``raw.one_name``): in lower case, with single spaces.

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

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, field_validator

from compvqa.scenes.raw import one_name
from compvqa.scenes.senses import SenseData

Name = Annotated[str, AfterValidator(one_name)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    synonyms: list[Name] = []
    overlaps: list[Name] = []
    excludes: list[Name] = []


class NounEntry(_Entry):
    hypernyms: list[Name] = []
    countable: bool = True
    category: str | None = None
    facets: dict[str, str] = {}


class AttributeEntry(_Entry):
    group: str | None = None
    similar: list[Name] = []


class RelationEntry(_Entry):
    entails: list[Name] = []


class LexiconData(BaseModel):
    """The content of a lexicon's JSON file."""

    model_config = ConfigDict(extra="forbid")

    nouns: dict[Name, NounEntry] = {}
    attributes: dict[Name, AttributeEntry] = {}
    relations: dict[Name, RelationEntry] = {}
    complete: bool = True
    parts: dict[str, list[str]] = {}
    blurred: list[list[str]] = []
    senses: SenseData = SenseData()

    @field_validator("nouns", "attributes", "relations", mode="before")
    @classmethod
    def _each_once(cls, entries: Any) -> Any:
        """Refuse two entries of one name, of which a dictionary would keep the last silently."""
        seen: dict[str, str] = {}
        for name in entries if isinstance(entries, dict) else ():
            if isinstance(name, str) and seen.setdefault(one_name(name), name) != name:
                raise ValueError(f"{seen[one_name(name)]!r} and {name!r} are one name: make them one entry")
        return entries
