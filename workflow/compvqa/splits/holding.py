"""The keys of a split that holds a property out, or something drawn from the data."""

from __future__ import annotations

from pydantic import Field, model_validator

from compvqa.splits.drawn import Drawn
from compvqa.splits.setups import Definition


class HoldsOut(Definition):
    """A split's file, of a setup that holds something out."""

    property: str = Field("", description="what is held out: an expression of properties")
    drawn: Drawn | None = Field(
        None, discriminator="kind", description="what is held out, where it is drawn from the data: programs, or pairs"
    )

    @model_validator(mode="after")
    def _one(self) -> HoldsOut:
        if bool(self.property) == bool(self.drawn):
            raise ValueError("a split of this setup holds out one thing: give it a property, or one drawn")
        return self

    def held_out(self) -> str | Drawn:
        return self.drawn or self.property

    def told(self) -> str:
        return self.drawn.kind if self.drawn else self.property
