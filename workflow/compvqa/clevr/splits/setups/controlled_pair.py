"""As held-out-pair, in a vocabulary that is cut to fewer combinations, with a test that all cuts of a pair share
(CLEVR-HOPE, section 4.4)."""

from pydantic import Field

from compvqa.clevr.splits.setups.held_out_pair import PARTS, HeldOutPair, held_out_pair
from compvqa.scenes.pairs import Among
from compvqa.splits.setups import ALL, NO, TEST, Part


class ControlledPair(HeldOutPair):
    """The file of a pair within a part of the vocabulary."""

    among: Among = Field(description="the combinations of the pair's types that there are")
    common: Among = Field(description="the fewest of them, which all files of the pair share, and so a test")


SETUP = held_out_pair(
    (
        *PARTS,
        Part("common_iid", TEST, "common_iid", "as complex_iid, with the fewest combinations", NO),
        Part(
            "common_ood", TEST, "common_ood", "as complex_ood, with the fewest combinations", ALL, like=("common_iid",)
        ),
    ),
    ControlledPair,
)
