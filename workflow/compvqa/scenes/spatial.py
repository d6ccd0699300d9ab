"""Relations that follow from where things are: left, right, behind, in front …"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Place = Sequence[float]  # x, y, z
MARGIN = 0.2  # how much farther along a direction a thing must lie, in the unit of its world


def related(places: Sequence[Place], axis: Place, margin: float = MARGIN) -> list[list[int]]:
    """For each place the numbers of those that lie more than ``margin`` farther along ``axis``, a unit vector."""
    along = [x * axis[0] + y * axis[1] + z * axis[2] for x, y, z in places]
    return [[j for j, other in enumerate(along) if other - here > margin] for here in along]


def all_related(
    places: Sequence[Place], directions: Mapping[str, Place], margin: float = MARGIN
) -> dict[str, list[list[int]]]:
    """:func:`related` for each direction by its name, without those that point up or down."""
    level = {name: axis for name, axis in directions.items() if any(axis[:2])}
    return {name: related(places, axis, margin) for name, axis in level.items()}
