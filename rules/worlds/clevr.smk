# Makes CLEVR's world: scenes in the release's files, one a side, and their pictures, shard by shard.
WORLD = CONFIG.world.folder
SIDES = CONFIG.world.settings.sides
PICTURES = ["images", "depth"][: 1 + CONFIG.world.settings.all.depth]
DRAWN_IN = "blender" if CONFIG.world.settings.all.renderer == "blender" else "data"  # family of software
SHARD = f"{WORLD}/shards/{{side}}/{{scatteritem}}"


wildcard_constraints:
    side="|".join(SIDES),


rule clevr_world:
    output:
        scenes=f"{SHARD}/scenes.json",
        pictures=[directory(f"{SHARD}/{kind}") for kind in PICTURES],
        record=f"{SHARD}/clevr_world.prov.json",
    log:
        "logs/clevr_world/{side}-{scatteritem}.log",
    benchmark:
        f"{JOBS}/clevr_world-{{side}}-{{scatteritem}}.tsv"
    # The longest first, so that none is left at the end alone
    priority: lambda wildcards: SIDES[wildcards.side].scenes / sum(side.scenes for side in SIDES.values())
    conda:
        f"../../envs/{DRAWN_IN}.yaml"
    container:
        CONTAINERS[DRAWN_IN]
    resources:
        mem_mb=memory(1500),
        runtime=minutes(240),
    params:
        folder=lambda wildcards, output: os.path.dirname(output.scenes),
        config=lambda wildcards: as_json(CONFIG.world.settings.of(wildcards.side).model_dump(mode="json")),
        seed=CONFIG.seed,
        code=code_of("clevr_world", renderer=CONFIG.world.settings.all.renderer),
    shell:
        f"python -m compvqa clevr world {{params.folder:q}} --shard {{wildcards.scatteritem}}{STAGE}"


include: "clevr/gather.smk"
