# Takes all that a run made; gives its manifest: each file and each record with its sha256, the config and the code.
from snakemake.io import is_flagged

# Files that Snakemake deletes once nobody needs them, of any wildcards
TEMPORARY = [
    re.sub(r"{[^}]*}", "*", str(path)) for rule in workflow.rules for path in rule.output if is_flagged(path, "temp")
]
MANIFEST = as_json(
    {
        "config": CONFIG.model_dump(mode="json"),
        "definitions": {
            f"{kind}/{name}": folder.digest(name) for kind, (folder, names) in DEFINED.items() for name in names
        },
        "temporary": sorted(TEMPORARY),
    }
)


rule manifest:
    input:
        INDEX,
        DIVIDED,
        expand(f"{T}/splits/{{split}}.parquet", split=CONFIG.splits.names),
        ALSO,
    output:
        manifest=f"{T}/manifest.json",
    log:
        "logs/manifest.log",
    benchmark:
        f"{JOBS}/manifest.tsv"
    conda:
        "../envs/data.yaml"
    container:
        CONTAINERS["data"]
    resources:
        mem_mb=memory(1000),
        runtime=minutes(30),
    params:
        about=data(MANIFEST),
        code=code_of("manifest"),
    shell:
        f"python -m compvqa manifest {T} --project $PROJECT --config {{params.about:q}}{LOG}"
