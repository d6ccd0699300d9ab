"""Settings of the risk of questions."""

from __future__ import annotations

from pydantic import Field, PositiveInt

from compvqa.settings import Settings


class RiskSettings(Settings):
    """How the risk of questions is told."""

    labelled: PositiveInt = Field(
        800,
        description="images that have a subgraph, so many that have its things but not so related, and so many that "
        "lack one of them, by which risks are calibrated, at most",
    )
