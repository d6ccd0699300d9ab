# Takes the list of downloads; gives raw files.
DOWNLOADS = read_sources(PROJECT / "config/sources.tsv")
DOWNLOADED = {f"resources/{row.name}/{file}" for row in DOWNLOADS for file in row.files()}
for row in DOWNLOADS:

    rule:
        name:
            re.sub(r"\W", "_", f"download_{row.name}_{row.file}")
        output:
            files=expand(f"resources/{row.name}/{{file}}", file=row.files()),
            record=f"resources/{row.name}/{row.file}.prov.json",
        log:
            f"logs/download/{row.name}_{row.file}.log",
        benchmark:
            f"benchmarks/jobs/download-{row.name}-{row.file}.tsv"
        conda:
            "../envs/data.yaml"
        container:
            CONTAINERS["data"]
        resources:
            runtime=minutes(600),
        params:
            row=[row.name, row.file],
            sha256=row.sha256,
            code=stage_code("download"),
        shell:
            "python -m compvqa download {params.row} --folder $(dirname {output.record}) --sources $PROJECT/config/sources.tsv"
            " --lock $PROJECT/config/sources.lock.tsv"
            f"{LOG}"
