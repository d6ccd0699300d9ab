"""Nothing is held out: the dataset's own parts, whose texts may be the same (CLEVR, 3.2), and pictures never.

No model is trained again without its pictures: the baseline that looks at none is the LSTM (CLEVR, 4.1).
"""

from dataclasses import replace

from compvqa.splits.setups import ASKED, IMAGE, iid

SETUP = replace(
    iid.SETUP,
    variants={
        name: replace(variant, asked=variant.asked or ASKED * bool(variant.model))
        for name, variant in iid.SETUP.variants.items()
    },
    apart=tuple(guard for guard in iid.SETUP.apart if guard.what == IMAGE),
)
