# Takes the list of downloads and the names of checkpoints; gives raw files and checkpoints. Both need the network, which
# the nodes of a cluster may not have: they run where Snakemake does. Their params have no code: what was fetched is what it
# is by its checksum, and gigabytes are not to be fetched again because a line of ours changed.
DOWNLOADS = read_sources(PROJECT / "config/sources.tsv")
DOWNLOADED = {f"resources/{row.name}/{file}" for row in DOWNLOADS for file in row.files()}
for row in DOWNLOADS:

    rule:
        name:
            re.sub(r"\W", "_", f"download_{row.name}_{row.file}")
        output:
            files=[
                directory(f"resources/{row.name}/{file}") if file in row.folders() else f"resources/{row.name}/{file}"
                for file in row.files()
            ],
            record=f"resources/{row.name}/{row.file}.prov.json",
        log:
            f"logs/download/{row.name}_{row.file}.log",
        benchmark:
            f"{JOBS}/download-{row.name}-{row.file}.tsv"
        localrule: True
        conda:
            "../envs/data.yaml"
        container:
            CONTAINERS["data"]
        resources:
            runtime=minutes(600),
        params:
            row=[row.name, row.file],
            sha256=row.sha256,
        shell:
            "python -m compvqa download {params.row:q} --folder $(dirname {output.record:q}) --sources $PROJECT/config/sources.tsv"
            " --lock $PROJECT/config/sources.lock.tsv"
            f"{TEE}"


rule checkpoint:
    output:
        files=f"{HUB}/{{checkpoint}}@{{revision}}.json",
        record=f"{HUB}/{{checkpoint}}@{{revision}}.json.prov.json",
    log:
        "logs/checkpoint/{checkpoint}@{revision}.log",
    benchmark:
        f"{JOBS}/checkpoint-{{checkpoint}}@{{revision}}.tsv"
    wildcard_constraints:
        checkpoint="[^/@]+",
        revision="[^/@]+",
    localrule: True
    conda:
        "../envs/models.yaml"
    container:
        CONTAINERS["models"]
    resources:
        runtime=minutes(600),
    params:
        name=lambda wildcards: unquote(wildcards.checkpoint).replace("--", "/"),
        revision=lambda wildcards: unquote(wildcards.revision),
    shell:
        f"HF_HUB_OFFLINE=0 python -m compvqa checkpoint {{params.name:q}} --revision={{params.revision:q}} --hub {HUB}"
        f" --out {{output.files:q}}{TEE}"


rule fetch:
    input:
        lambda wildcards: [path for path in given_files() if path in DOWNLOADED],
        lambda wildcards: [path for named in checkpoints() for path in named],
