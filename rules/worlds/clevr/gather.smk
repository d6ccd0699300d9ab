# Takes the shards of all sides of CLEVR's world (SHARD, SIDES, PICTURES); gives a scene file a side, and all pictures.
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
        "../../../envs/data.yaml"
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
