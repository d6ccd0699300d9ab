"""A scene as bit masks: object i of the scene is bit i of an integer, and a set of objects is one integer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from compvqa import tables
from compvqa.clevr.language import GROUPS
from compvqa.errors import InputError
from compvqa.scenes.graph import Slices
from compvqa.scenes.spatial import all_related
from compvqa.scenes.tables import ATTRIBUTES, DIRECTIONS, OBJECTS, POSITIONS, SCENES

Attributes = tuple[str, str, str, str]  # size, color, material, shape


@dataclass(frozen=True)
class Scene:
    """A scene: its objects' attributes, and for each relation the mask of what stands in it to each object."""

    scene_id: str
    split: str
    objects: tuple[Attributes, ...]
    relations: Mapping[str, tuple[int, ...]]

    @cached_property
    def everything(self) -> int:
        """The mask of all objects."""
        return (1 << len(self.objects)) - 1

    @cached_property
    def having(self) -> Mapping[str, Mapping[str, int]]:
        """By group and attribute, the mask of the objects that have it."""
        found: dict[str, dict[str, int]] = {group: {} for group in GROUPS}
        for number, attributes in enumerate(self.objects):
            for group, value in zip(GROUPS, attributes, strict=True):
                found[group][value] = found[group].get(value, 0) | 1 << number
        return found

    @cached_property
    def described(self) -> Mapping[tuple[str | None, ...], int]:
        """By each description that fits any object (an attribute or None for each group), the mask of those it fits."""
        found: dict[tuple[str | None, ...], int] = {}
        for number, attributes in enumerate(self.objects):
            for chosen in range(1 << len(GROUPS)):
                key = tuple(value if chosen >> place & 1 else None for place, value in enumerate(attributes))
                found[key] = found.get(key, 0) | 1 << number
        return found

    def fitting(self, description: Sequence[str | None]) -> int:
        """The mask of the objects that a description fits."""
        mask = self.everything
        for group, value in zip(GROUPS, description, strict=True):
            if value is not None:
                mask &= self.having[group].get(value, 0)
        return mask


def masks(lists: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Lists of objects' numbers as masks."""
    return tuple(sum(1 << number for number in numbers) for numbers in lists)


def read_scenes(folder: Path) -> Iterator[Scene]:
    """The scenes of a folder of scene tables, in the order of their ids; one is built when it is asked for.

    InputError where an object lacks a size, colour, material or place, or a scene its directions.
    """
    for name in (POSITIONS.name, DIRECTIONS.name):
        if not (folder / f"{name}.parquet").exists():
            raise InputError(f"{folder} has no table {name}: CLEVR's questions need scenes whose source tells places.")
    scenes = tables.read(folder / "scenes.parquet", SCENES, columns=["scene_id", "split"])
    names = _by_scene(folder, OBJECTS, "object_id", "name")
    attributes = _by_scene(folder, ATTRIBUTES, "object_id", "group", "name")
    places = _by_scene(folder, POSITIONS, "object_id", "x", "y", "z")
    directions = _by_scene(folder, DIRECTIONS, "name", "x", "y", "z")
    for scene_id, split in zip(scenes["scene_id"].to_pylist(), scenes["split"].to_pylist(), strict=True):
        objects: dict[str, dict[str | None, str]] = {key: {"shape": name} for key, name in names(scene_id)}
        for key, group, value in attributes(scene_id):
            objects[key][group] = value
        where = {key: place for key, *place in places(scene_id)}
        axes = {name: axis for name, *axis in directions(scene_id)}
        order = sorted(objects, key=int) if all(key.isdecimal() for key in objects) else sorted(objects)
        if order and not axes:
            raise InputError(
                f"The scene {scene_id} in {folder} has no directions: read it from a file that tells them."
            )
        for key in order:
            for group in GROUPS:
                if group not in objects[key]:
                    raise InputError(
                        f"Object {key} of the scene {scene_id} in {folder} has no {group}: correct its file."
                    )
            if key not in where:
                raise InputError(f"Object {key} of the scene {scene_id} in {folder} has no place: correct its file.")
        related = all_related([where[key] for key in order], axes)
        yield Scene(
            scene_id,
            split,
            tuple(tuple(objects[key][group] for group in GROUPS) for key in order),
            {name: masks(lists) for name, lists in related.items()},
        )


def _by_scene(folder: Path, schema: tables.Schema, *columns: str):
    """A function from a scene's id to its rows in a table."""
    return Slices(tables.read(folder / f"{schema.name}.parquet", schema), columns).rows
