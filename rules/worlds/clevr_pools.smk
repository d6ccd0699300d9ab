# Makes CLEVR's scenes for held-out pairs, which the config's splits name: pools that all pairs share, and pictures of
# single objects; scene files, one a side, and their pictures, shard by shard.
from functools import cache

from compvqa.scenes.worlds.clevr_pools import PoolSettings, Walk, forecast

WORLD = CONFIG.world.folder
SIDES = CONFIG.world.settings.sides
PICTURES = ["images", "depth"][: 1 + CONFIG.world.settings.all.depth]
DRAWN_IN = "blender" if CONFIG.world.settings.all.renderer == "blender" else "data"  # family of software
SHARD = f"{WORLD}/shards/{{side}}/{{scatteritem}}"
# The pairs that walk the pools, each in its part of the vocabulary.
WALKS = [
    Walk.model_validate({key: getattr(definition, key, None) for key in Walk.model_fields})
    for definition in map(definition_of, CONFIG.splits.names)
    if hasattr(definition, "pair")
]


wildcard_constraints:
    side="|".join(SIDES),


@cache
def pool_settings(side):
    """What a side is made by, and about how many scenes that are, as JSON."""
    settings = PoolSettings(world=CONFIG.world.settings, side=side, walks=WALKS)
    about = settings.model_copy(update={"scenes": forecast(settings, CONFIG.seed)})
    return as_json(about.model_dump(mode="json"))


rule clevr_pool:
    output:
        scenes=f"{SHARD}/scenes.json",
        pictures=[directory(f"{SHARD}/{kind}") for kind in PICTURES],
        record=f"{SHARD}/clevr_pool.prov.json",
    log:
        "logs/clevr_pool/{side}-{scatteritem}.log",
    benchmark:
        f"{JOBS}/clevr_pool-{{side}}-{{scatteritem}}.tsv"
    conda:
        f"../../envs/{DRAWN_IN}.yaml"
    container:
        CONTAINERS[DRAWN_IN]
    resources:
        mem_mb=memory(1500),
        runtime=minutes(240),
    params:
        folder=lambda wildcards, output: os.path.dirname(output.scenes),
        config=lambda wildcards: pool_settings(wildcards.side),
        seed=CONFIG.seed,
        code=code_of("clevr_pool", renderer=CONFIG.world.settings.all.renderer),
    shell:
        f"python -m compvqa clevr pool {{params.folder:q}} --shard {{wildcards.scatteritem}}{STAGE}"


include: "clevr/gather.smk"
