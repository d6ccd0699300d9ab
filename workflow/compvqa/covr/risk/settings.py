"""Settings of the risk of questions."""

from __future__ import annotations

from pydantic import Field, PositiveInt

from compvqa.settings import Settings


class RiskSettings(Settings):
    """How the risk of questions is told."""

    labelled: PositiveInt = Field(
        800, description="images that have a subgraph, and so many that lack it, by which risks are calibrated, at most"
    )
