"""The settings of CLEVR's world: how its things look, and what scenes are made."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from compvqa.settings import Settings

Byte = Annotated[int, Field(ge=0, le=255)]
Pair = tuple[str, str]
COGENT_A = {
    "cube": ("gray", "blue", "brown", "yellow"),
    "cylinder": ("red", "green", "purple", "cyan"),
}
COGENT_B = {"cube": COGENT_A["cylinder"], "cylinder": COGENT_A["cube"]}
CONDITIONS = {"none": {}, "cogent_a": COGENT_A, "cogent_b": COGENT_B}


class Material(Settings):
    """How a surface takes light."""

    metal: float = Field(0, ge=0, le=1, description="How much of a metal it is: 1 mirrors in its colour, 0 is matte.")
    roughness: float = Field(0.5, ge=0.02, le=1, description="How blurred its mirror is, and how wide its highlights.")


class Look(Settings):
    """The words for things' attributes, how each is drawn, and the pictures. The defaults are those of the release."""

    width: int = Field(480, ge=30, le=4096, description="Width of a picture, in pixels.")
    height: int = Field(320, ge=20, le=4096, description="Height of a picture, in pixels.")
    light_samples: int = Field(
        16,
        ge=1,
        le=63,
        description="Points of each lamp that shadows are drawn from; of the renderer blender: samples of a pixel.",
    )
    edge_samples: int = Field(
        12,
        ge=1,
        le=64,
        description="Places that are looked at in a pixel at the edge of a thing, so that it is smooth; not of the "
        "renderer blender.",
    )
    mirrored: int = Field(
        256,
        ge=16,
        le=2048,
        description="Points of a side of the map of the ground that things mirror: fewer are enough in small pictures, "
        "and quicker; not of the renderer blender.",
    )
    device: Literal["cpu", "gpu"] = Field("cpu", description="What the renderer blender draws on; bytes differ.")
    shapes: dict[str, Literal["cube", "sphere", "cylinder"]] = Field(
        {"cube": "cube", "sphere": "sphere", "cylinder": "cylinder"},
        min_length=1,
        description="Names of shapes, and the solid that each is drawn as.",
    )
    colors: dict[str, tuple[Byte, Byte, Byte]] = Field(
        {
            "gray": (87, 87, 87),
            "red": (173, 35, 35),
            "blue": (42, 75, 215),
            "green": (29, 105, 20),
            "brown": (129, 74, 25),
            "purple": (129, 38, 192),
            "cyan": (41, 208, 208),
            "yellow": (255, 238, 51),
        },
        min_length=1,
        description="Names of colors, and how much red, green and blue each sends back, of 255 (linear light).",
    )
    materials: dict[str, Material] = Field(
        {"rubber": Material(metal=0, roughness=0.9), "metal": Material(metal=1, roughness=0.09)},
        min_length=1,
        description="Names of materials, and how each takes light.",
    )
    sizes: dict[str, Annotated[float, Field(gt=0, le=1.5)]] = Field(
        {"large": 0.7, "small": 0.35},
        min_length=1,
        description="Names of sizes, and half of the height and width of a thing, in the world's unit.",
    )


class Contents(Look):
    """What stands in scenes, and how they are drawn.

    Objects' attributes are drawn uniformly: size, shape and material each alone, the color of those that the shape may
    have. What a pair of attributes forbids or asks for decides about whole objects or scenes; it moves nothing else.
    """

    min_objects: int = Field(3, ge=1, le=30, description="Fewest objects in a scene.")
    max_objects: int = Field(10, ge=1, le=30, description="Most objects in a scene.")
    condition: Literal["none", "cogent_a", "cogent_b"] = Field(
        "none", description="Which colors shapes may have: all, or those of CLEVR-CoGenT's condition A or B."
    )
    colors_of: dict[str, list[str]] = Field(
        {}, description="Colors that a shape may have, by the shape; it goes before `condition`."
    )
    forbidden: list[Pair] = Field([], description="Pairs of attribute values that no object has both.")
    required: list[Pair] = Field([], description="Pairs of attribute values that some object of each scene has both.")
    directions: Literal["released", "jittered"] = Field(
        "released",
        description="Whether left, right, front and behind follow the camera's base place, as in the release, or its "
        "own place in each scene, as its picture shows.",
    )
    min_pixels: int = Field(
        200, ge=1, description="Pixels that each object must show in a picture of 480x320; of others in proportion."
    )
    renderer: str = Field(
        "caster",
        pattern=r"^[a-z][a-z0-9_]*$",
        description="Module of compvqa.scenes.worlds.clevr.renderers that draws.",
    )
    depth: bool = Field(False, description="Whether each picture's depth is written as well (PNG of 16 bits).")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.min_objects > self.max_objects:
            raise ValueError(f"min_objects {self.min_objects} is more than max_objects {self.max_objects}")
        values = [value for group in (self.shapes, self.colors, self.materials, self.sizes) for value in group]
        if twice := [value for value in set(values) if values.count(value) > 1]:
            raise ValueError(f"{sorted(twice)[0]!r} names two attributes: call one otherwise")
        for what in ("forbidden", "required"):
            if unknown := [value for pair in getattr(self, what) for value in pair if value not in values]:
                raise ValueError(f"{what} names {unknown[0]!r}, which is no shape, color, material or size")
        for shape, colors in self.colors_of.items():
            if shape not in self.shapes or not colors or not set(colors) <= set(self.colors):
                raise ValueError(f"colors_of {shape!r}: name a shape, and one or more of the colors")
        allowed = list(self.combinations())
        if not allowed:
            raise ValueError("the forbidden pairs and the shapes' colors leave no object that could be drawn")
        for pair in self.required:
            if not any(set(pair) <= set(values) for values in allowed):
                raise ValueError(f"no object may be {' and '.join(pair)}, which is required: forbid less")
        if len(self.required) > self.max_objects:
            raise ValueError("more pairs are required than a scene may have objects")
        return self

    def palette(self, shape: str) -> list[str]:
        """The colors that a shape may have."""
        condition = CONDITIONS[self.condition].get(shape, self.colors)
        return [color for color in self.colors_of.get(shape, condition) if color in self.colors]

    def allows(self, values: tuple[str, ...]) -> bool:
        """Whether no forbidden pair is among an object's values."""
        return not any(set(pair) <= set(values) for pair in self.forbidden)

    def combinations(self) -> Iterator[tuple[str, str, str, str]]:
        """All objects that may be: shape, color, material, size."""
        for shape in self.shapes:
            for values in product([shape], self.palette(shape), self.materials, self.sizes):
                if self.allows(values):
                    yield values

    @property
    def least_pixels(self) -> int:
        """Pixels that each object must show in a picture of this size."""
        return max(1, round(self.min_pixels * self.width * self.height / (480 * 320)))


class ClevrSettings(Contents):
    """One side's scenes: how many, what stands in them, and how they are drawn."""

    scenes: int = Field(1000, ge=0, le=10_000_000, description="Number of scenes.")
    split: str = Field("train", pattern=r"^[A-Za-z0-9]+$", description="Name of the scenes' side, as in file names.")


class Side(Settings):
    """How many scenes a side has, and what stands in them where it is not what stands in all."""

    scenes: int = Field(ge=0, le=10_000_000, description="Number of scenes.")
    min_objects: int | None = Field(None, description="Fewest objects in a scene; null: as in all.")
    max_objects: int | None = Field(None, description="Most objects in a scene; null: as in all.")
    condition: Literal["none", "cogent_a", "cogent_b"] | None = Field(
        None, description="Which colors shapes may have; null: as in all."
    )
    colors_of: dict[str, list[str]] | None = Field(None, description="Colors that a shape may have; null: as in all.")
    forbidden: list[Pair] | None = Field(None, description="Pairs that no object has; null: as in all.")
    required: list[Pair] | None = Field(None, description="Pairs that each scene has; null: as in all.")


SideName = Annotated[str, Field(pattern=r"^[A-Za-z0-9]+$")]


class ClevrWorld(Settings):
    """The scenes of all sides of a test-bed."""

    sides: dict[SideName, Side] = Field(
        {"train": Side(scenes=70_000), "val": Side(scenes=15_000), "test": Side(scenes=15_000)},
        min_length=1,
        description="The sides that scenes are made for, each of scenes of its own: train, val, valB …",
    )
    all: Contents = Field(Contents(), description="What stands in the scenes of all sides, and how they are drawn.")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for name in self.sides:
            self.of(name)
        return self

    def of(self, side: str) -> ClevrSettings:
        """The settings of one side's scenes; ValueError where they cannot be."""
        own = self.sides[side].model_dump(exclude_none=True)
        return ClevrSettings.model_validate({**self.all.model_dump(), **own, "split": side})
