# Jobs that meet with an accident at their first attempt, with the project's ways to say what a job needs.
include: "../../../rules/common.smk"


rule all:
    input:
        "late.txt",
        "cancelled.txt",
        "large.txt",


# At its first attempt it may take a minute, and takes ten.
rule late:
    output:
        "late.txt",
    resources:
        mem_mb=memory(500),
        runtime=minutes(1),
    shell:
        "[ {resources.runtime} -gt 1 ] || sleep 600; env > {output}"


rule cancelled:
    output:
        "cancelled.txt",
    resources:
        mem_mb=memory(500),
        runtime=minutes(20),
    shell:
        "[ {resources.runtime} -gt 20 ] || sleep 600; echo {resources.tmpdir} > {output}"


rule large:
    output:
        "large.txt",
    resources:
        mem_mb=memory(1000),
        runtime=minutes(5),
    shell:
        "python -c 'import time; held = b\"x\" * (1600 << 20); time.sleep(15)' && touch {output}"
