"""As COVR's few-shot setup; texts may be the same in two parts, pictures never."""

from dataclasses import replace

from compvqa.splits.setups import IMAGE, few_shot

SETUP = replace(few_shot.SETUP, apart=tuple(guard for guard in few_shot.SETUP.apart if guard.what == IMAGE))
