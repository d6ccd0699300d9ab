"""Claims: what a paper concludes from its numbers, as bounds on numbers of its tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Literal

from pydantic import Field, ValidationError

from compvqa.errors import InputError
from compvqa.paper.reference import Reference
from compvqa.settings import Settings

Name = str | tuple[str, ...]  # several: each of them is meant
Place = tuple[str, Name, Name]
Plain = tuple[str, str, str]
VERDICTS = ("holds", "points that way", "points the other way", "does not hold")
SAME = "same"  # in the other number's place, as its row or column: that of the first


class Claim(Settings):
    """A number, or by how much it exceeds another one, is said to lie between two bounds; of several, each is, or a
    share of them."""

    of: Place = Field(description="table, row and column of the number; lists of rows or columns: of each")
    less: Place | None = Field(
        None,
        description="that of the other one, whose row or column may be called same; none: the number alone is meant",
    )
    at_least: float = Field(float("-inf"), description="the lower bound, in the tables' unit")
    at_most: float = Field(float("inf"), description="the upper bound")
    form: Literal["percent", "score"] = Field("percent", description="how its numbers are written: 50.8 or 0.18")
    share: tuple[float, float] | None = Field(
        None,
        description="the least and the largest share of its numbers that are said to lie between the bounds; none: all",
    )
    further: tuple[tuple[Place, Place | None], ...] = Field(
        (), description="numbers of other tables that are meant too, each with the other one as in less"
    )

    def verdict(self, value: float, low: float, high: float) -> str:
        """Whether ``value`` fits, and whether all from ``low`` to ``high`` does as well, or as little."""
        if self.fits(value):
            return VERDICTS[0] if self.at_least <= low and high <= self.at_most else VERDICTS[1]
        return VERDICTS[3] if high < self.at_least or low > self.at_most else VERDICTS[2]

    def fits(self, value: float) -> bool:
        """Whether a number lies between the bounds."""
        return self.at_least <= value <= self.at_most

    def pairs(self) -> Iterator[tuple[Plain, Plain | None]]:
        """The places of each number, and of the other one."""
        for (table, rows, columns), less in ((self.of, self.less), *self.further):
            for row, column in product(_each(rows), _each(columns)):
                if less is None:
                    yield (table, row, column), None
                    continue
                other, *place = less
                named = [mine if name == SAME else str(name) for name, mine in zip(place, (row, column), strict=True)]
                yield (table, row, column), (other, named[0], named[1])


def _each(name: Name) -> tuple[str, ...]:
    return (name,) if isinstance(name, str) else name


def claim_of(reference: Reference, name: str) -> Claim:
    """The claim of this name."""
    try:
        return Claim.model_validate(reference.options.get("claims", {}).get(name))
    except ValidationError as error:
        raise InputError(
            f"{reference.title}: options.claims has no right claim {name!r}: {error.errors()[0]['msg']}."
        ) from None
