# What the pools of CLEVR's world are made by: the pairs that walk them, and about how many scenes that takes.
from functools import cache

from compvqa.scenes.worlds.clevr_pools import PoolSettings, Walk, forecast

# The pairs that walk the pools, each in its part of the vocabulary.
WALKS = [
    Walk.model_validate({key: getattr(definition, key, None) for key in Walk.model_fields})
    for definition in map(definition_of, CONFIG.splits.names)
    if hasattr(definition, "pair")
]


@cache
def pool_of(side):
    """What a side is made by, and about how many scenes that are."""
    settings = PoolSettings(world=CONFIG.world.settings, side=side, walks=WALKS)
    return settings.model_copy(update={"scenes": forecast(settings, CONFIG.seed)})
