# Which pairs are held out, each in the chain that its split divides, and how much is made for it.
from compvqa.clevr.hope.sets import MINIMAL, HopeSettings, PairSettings, sets_of

# The splits by their chains, and what each pair's stages get.
CHAINS = {definition_of(name).chain: name for name in CONFIG.splits.names if hasattr(definition_of(name), "pair")}
if others := [name for name in CONFIG.splits.names if name not in CHAINS.values()]:
    raise WorkflowError(
        f"config: splits.names has {others[0]}, which holds out no pair, and datasets of the kind clevr_hope are made for"
        " pairs: leave it out."
    )


def pair_of(chain):
    """A pair, its part of the vocabulary, and how much is made for it."""
    definition = definition_of(CHAINS[chain])
    told = {key: getattr(definition, key, None) for key in ("pair", "among", "common")}
    hope = {key: getattr(DATASET, key) for key in HopeSettings.model_fields}
    return PairSettings.model_validate({**told, "hope": hope})


def pair_settings(wildcards):
    """The same as JSON."""
    return as_json(pair_of(wildcards.chain).model_dump(mode="json"))


def sets_in(wildcards):
    """The sets of a pair."""
    return [*sets_of(pair_of(wildcards.chain)), MINIMAL]
