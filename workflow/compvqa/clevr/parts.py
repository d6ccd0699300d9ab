"""Which part of the dataset a question is in, by the side of its scene: train, val … are train, dev, test …"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, model_validator

from compvqa.seeds import stable_hash
from compvqa.settings import Settings

Share = Annotated[float, Field(gt=0, le=1)]
GRAIN = 1_000_000


class PartsSettings(Settings):
    """How scenes' sides become parts of the dataset. All questions of a scene are in one part."""

    parts: dict[str, dict[str, Share]] = Field(
        {"val": {"dev": 1}},
        description="for a side of the scenes the parts that its scenes are dealt to, with their shares, which are 1 "
        "together, by stable rank; a side that is not named is a part of its own name",
    )

    @model_validator(mode="after")
    def _whole(self) -> PartsSettings:
        for side, shares in self.parts.items():
            if abs(sum(shares.values()) - 1) > 1e-9:
                raise ValueError(f"the shares of {side} are {sum(shares.values()):g} together, not 1")
        return self


def part_of(parts: Mapping[str, Mapping[str, float]], seed: int, side: str, scene_id: str) -> str:
    """The part of a scene's questions; ``parts`` is that of :class:`PartsSettings`."""
    shares = parts.get(side, {side: 1})
    if len(shares) == 1:
        return next(iter(shares))
    place = stable_hash(seed, "part", scene_id) % GRAIN
    reached = 0.0
    for part, share in shares.items():
        reached += share * GRAIN
        if place < reached:
            return part
    return part
