"""What the config says of a test-bed that is handed to others."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from typing import Literal

from pydantic import Field

from compvqa.settings import Settings


class PublishSettings(Settings):
    """The section ``publish``: of the dataset folder, and of the crate of a run."""

    name: str = Field("", description="how the dataset is called; empty: after the test-bed")
    description: str = Field(
        "", description="what it is, in a sentence or two; empty: what questions of their language are"
    )
    licence: str = Field(
        "",
        description="of the questions, as the hub spells it (cc-by-4.0); empty: that of the sources, if they have one",
    )
    licences: dict[str, str] = Field(
        default_factory=dict,
        description="of sources that are not downloads of config/sources.tsv, by the source's name",
    )
    pictures: Literal["none", "once", "inline", "fetched"] = Field(
        "none",
        description="the pictures in the dataset folder: none; each once, in the configuration images, which questions "
        "refer to; inline, with each question that shows them; or fetched, by a script that checks each",
    )
    picture_files: int = Field(1, ge=1, description="in how many files pictures lie that are there once")
    picture_licences: dict[str, str] = Field(
        default_factory=dict,
        description="of pictures that are not drawn here, by image space: what lets you hand them on",
    )
    picture_archives: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="of pictures that are fetched, by image space: URLs of zip or tar archives; those of downloads of "
        "config/sources.tsv are known",
    )
    creators: tuple[str, ...] = Field((), description="people who made it")
    organization: str = Field("", description="where they work, which publishes it")
    url: str = Field("", description="page of the dataset or of its organization")
    version: str = Field("1.0.0", pattern=r"^\d+\.\d+\.\d+$", description="of the dataset: major.minor.patch")
    published: date | None = Field(None, description="day of publication; without it, the day the questions were made")
    datasheet: str = Field(
        "",
        description="a file of config/datasheets, without .yaml: questions about the dataset with their answers, which "
        "end the card; empty: none",
    )
    citation: str = Field("", description="BibTeX of what to cite; empty: the paper whose questions these are")

    def check_pictures(self, folders: Collection[str]) -> None:
        """ValueError where pictures are to be handed on, and there is no folder of them."""
        if self.pictures != "none" and not folders:
            raise ValueError(
                f"publish.pictures is {self.pictures}, and images names no folder of pictures: name that of each image "
                "space there, or write `publish: {pictures: none}`"
            )
