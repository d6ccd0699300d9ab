"""Setups: which parts a split has, what each is for, which runs are trained on which, and what may not be shared.

A setup is one module here (or in an engine's ``splits/setups``), found by its name, with ``-`` for ``_``: the splits'
files say ``setup: few-shot`` and mean ``few_shot.py``. The module has one value ``SETUP``. All other stages ask it, or
read the columns ``role`` and ``held_out`` of the split's table; none spells a part's name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import Field, PositiveFloat, PositiveInt

from compvqa import plugins
from compvqa.errors import InputError
from compvqa.scenes.pairs import Pair
from compvqa.settings import Settings

# What a part is for. Models are fitted on FIT parts alone, so that all others are scored. By CHOOSE parts weights are
# kept (early stopping) or people choose between models; TEST parts are looked at last.
FIT, CHOOSE, TEST = "fit", "choose", "test"
ANY, NO, FEW, ALL = "", "none", "few", "all"  # how many questions of a part have what is held out; ANY: not asked
IMAGE, TEXT = "image", "text"  # what a guard compares
EASY, CURVE = "easy", "curve"  # when the config asks for a variant: models.easy, models.curve
ASKED = "asked"  # of such a variant nothing is trained: it says how vision-language models are asked


class SplitSettings(Settings):
    """What all splits share."""

    m_scale: PositiveFloat = Field(
        1.0, description="factor on every few-shot split's M, for data sets smaller than COVR"
    )
    least_seen: PositiveInt = Field(
        5,
        description="objects of train's scenes that must have two values together, so that these count in the "
        "diversity of a held-out pair",
    )


class Definition(Settings):
    """One file of ``config/splits``: what all setups know; a setup adds keys of its own in a subclass."""

    name: str = Field(description="the file's name without .yaml")
    title: str = Field("", description="the split's name in tables, as in the paper; empty: the name")
    setup: str = Field(description="module of splits/setups: iid, few-shot, zero-shot")
    chain: str = Field(
        "",
        pattern=r"^([a-z0-9_-]+/)*[a-z0-9_-]+$|^$",
        description="the chain whose dataset is split, by its folder, such as easy; empty: the main one",
    )

    def held_out(self) -> str | Settings | None:
        """What is held out: an expression of properties, or how it is drawn from the data; None: nothing."""
        return None

    def told(self) -> str:
        """What is held out, in words for people."""
        return "nothing"

    def held_pair(self) -> Pair | None:
        """The pair of values that is held out, where the file names one."""
        return None

    def unnamed(self) -> frozenset[str]:
        """Words that no encoder may have been taught to name on our own pictures: whether a model puts them together is
        what the split tests."""
        return frozenset()

    def few(self, settings: SplitSettings) -> int:
        """How many questions with what is held out a part marked :data:`FEW` keeps."""
        return 0


@dataclass(frozen=True)
class Part:
    """A part of a split, drawn from one side: the dataset's own part of that name.

    ``held_out`` says which questions it has: ANY: all; NO: those without what is held out; FEW: these, and as many
    with it as the definition says; ALL: those with it. The guard counts it again. ``as_many_as`` names a part before
    it: only so many questions are drawn, at random. ``alike``: of a pair that is held out, only the questions that say
    another pair of its kinds of one object. ``like`` names the parts that a part with what is held out is compared
    with: they are as it is, but for that. ``meaning`` follows "`name`: " in what is published.
    """

    name: str
    role: str
    side: str
    meaning: str
    held_out: str = ANY
    as_many_as: str = ""
    alike: bool = False
    like: tuple[str, ...] = ()

    @property
    def why_empty(self) -> str:
        """Why it has no questions, if it has none."""
        which = {NO: "every", FEW: "every", ALL: "no"}.get(self.held_out)
        return f"{which} question of {self.side} has the property" if which else ""


@dataclass(frozen=True)
class Variant:
    """What a run is trained on: the parts that it is fitted on, and those by which its weights are kept.

    ``model`` are settings of the model that it changes; with ``chain`` it reads the dataset's own parts in that chain;
    ``asked`` is empty where each trained split has such a run. Shots of models that are asked come from ``fit``, or,
    with ``left_out``, from the questions of these parts' sides that the parts were not given.
    """

    fit: tuple[str, ...]
    choose: tuple[str, ...]
    model: Mapping[str, object] = field(default_factory=dict)
    chain: str = ""
    asked: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Apart:
    """A guard: no image, or no text, is both in a part of the side ``one`` and in a part of the side ``other``."""

    what: str
    one: str
    other: str


@dataclass(frozen=True)
class Setup:
    """A setup. The first variant is the split's own; ``m`` and a number names the variant ``m``, if there is one.

    ``predicted``: the parts whose questions the runs of a split answer.
    """

    definition: type[Definition]
    parts: tuple[Part, ...]
    variants: Mapping[str, Variant]
    predicted: tuple[str, ...]
    apart: tuple[Apart, ...]

    @property
    def own(self) -> Variant:
        """The variant that is trained on what the split keeps."""
        return next(iter(self.variants.values()))

    @property
    def sides(self) -> tuple[str, ...]:
        """The parts of the dataset that it draws from."""
        return tuple(dict.fromkeys(part.side for part in self.parts))

    def of(self, role: str) -> str:
        """The name of the first part of a role."""
        return next(part.name for part in self.parts if part.role == role)

    def part(self, name: str) -> Part:
        """The part ``name``; :class:`InputError` where there is none."""
        for part in self.parts:
            if part.name == name:
                return part
        known = ", ".join(part.name for part in self.parts)
        raise InputError(f"the setup has no part {name}, only {known}: split it again.")

    def variant(self, name: str) -> Variant:
        """The variant ``name`` of a run; :class:`InputError` where there is none."""
        kind = name.rstrip("0123456789")
        found = self.variants.get(kind)
        if found is None or (kind != name) != (found.asked == CURVE):
            raise InputError(f"no run of this setup is called {name}: use one of {', '.join(self.variants)}.")
        return found


class SetupModule(Protocol):
    """A module of a setup."""

    @property
    def SETUP(self) -> Setup: ...


def find_setup(name: str) -> Setup:
    """The setup called ``name``, as the splits' files write it."""
    module: SetupModule = plugins.find(__name__, module_of(name), "SETUP", "setup")
    return module.SETUP


def module_of(name: str) -> str:
    """The module's name of a setup, as the splits' files write it."""
    return name.replace("-", "_")


def check_use(described: Definition, curves: Collection[str], named: Collection[str]) -> None:
    """Raise :class:`InputError` where runs are asked for that a split's setup has not.

    ``curves`` are the splits of ``models.curve.splits``, ``named`` the variants of ``models.variants``.
    """
    name = described.name
    if name in curves and CURVE not in {variant.asked for variant in find_setup(described.setup).variants.values()}:
        raise InputError(
            f"config: models.curve.splits names {name}, whose setup {described.setup} has no M: name few-shot splits "
            "there."
        )
    variants = find_setup(described.setup).variants
    if named and not {*named} & {*variants}:
        raise InputError(
            f"config: models.variants names none of the variants of {name}, which are {', '.join(variants)}: add one."
        )
