# Makes CLEVR's world: scenes in the release's files, one a side, and their pictures, shard by shard.
WORLD = CONFIG.world.folder
SIDES = list(CONFIG.world.settings.sides)
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


rule gather_clevr_world:
    input:
        [path for side in SIDES for path in gather.shards(f"{SHARD}/scenes.json", side=side)],
        [path for side in SIDES for kind in PICTURES for path in gather.shards(f"{SHARD}/{kind}", side=side)],
    output:
        scenes=expand(f"{WORLD}/CLEVR_{{side}}_scenes.json", side=SIDES),
        pictures=[directory(f"{WORLD}/{kind}") for kind in PICTURES],
        record=f"{WORLD}/gather_clevr.prov.json",
    log:
        "logs/gather_clevr_world.log",
    benchmark:
        f"{JOBS}/gather_clevr_world.tsv"
    conda:
        "../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(1000),
        runtime=minutes(60),
    params:
        world=lambda wildcards, output: os.path.dirname(output.record),
        shards=[f"--shard={WORLD}/shards/{side}/{part}" for side in SIDES for part in gather.shards("{scatteritem}")],
        code=code_of("gather_clevr"),
    shell:
        f"python -m compvqa clevr gather-world {{params.world:q}} {{params.shards:q}}{LOG}"
