"""As COVR's zero-shot setup; texts may be the same in two parts, pictures never."""

from dataclasses import replace

from compvqa.splits.setups import IMAGE, zero_shot

SETUP = replace(zero_shot.SETUP, apart=tuple(guard for guard in zero_shot.SETUP.apart if guard.what == IMAGE))
