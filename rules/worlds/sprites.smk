# Makes the sprites world: drawn scenes in the formats of real sources, their pictures, and their whole truth.
WORLD = CONFIG.world.folder


rule sprites:
    output:
        images=directory(f"{WORLD}/images"),
        imsitu=expand(
            f"{WORLD}/imsitu/{{file}}",
            file=["train.json", "dev.json", "imsitu_space.json", "generation_templates.tab"],
        ),
        truth=directory(f"{WORLD}/truth"),
        aside=directory(f"{WORLD}/aside"),
        annotated=expand(f"{WORLD}/{{split}}_sceneGraphs.json", split=["train", "val"]),
        lexicon=f"{WORLD}/lexicon.json",
        record=f"{WORLD}/sprites.prov.json",
    log:
        "logs/sprites.log",
    benchmark:
        f"{JOBS}/sprites.tsv"
    conda:
        "../../envs/data.yaml"
    container:
        CONTAINERS["data"]
    threads: 2
    resources:
        mem_mb=memory(2000),
        runtime=minutes(20),
    params:
        world=lambda wildcards, output: os.path.dirname(output.images),
        config=data(CONFIG.world.section("settings")),
        seed=CONFIG.seed,
        code=code_of("sprites"),
    shell:
        f"python -m compvqa sprites {{params.world:q}}{STAGE}"
