"""What `make demo` would run, which make says without running it."""

import re
import subprocess

import pytest


def runs(root, *given: str) -> list[str]:
    """The configs that Snakemake would be given, one run after another."""
    said = subprocess.run(
        ["make", "--no-print-directory", "-n", "demo", *given], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    assert said.rstrip().endswith('echo "All test-beds:   results/index.html"')
    return re.findall(r"^\S*snakemake --cores all --configfile ((?:(?! --).)+)$", said, re.MULTILINE)


def test_the_demo_runs_its_test_beds_one_after_another(root):
    (named,) = re.findall(r"^DEMO := (.*)$", (root / "Makefile").read_text(), re.MULTILINE)
    assert runs(root) == named.split() and len(named.split()) >= 1
    assert all((root / config).is_file() for config in named.split())
    assert runs(root, "DEMO=config/tiny.yaml config/config.yaml") == ["config/tiny.yaml", "config/config.yaml"]


@pytest.mark.parametrize("config", ["config/tiny.yaml", "config/config.yaml config/demo-full.yaml"])
def test_a_config_that_is_named_is_one_run_of_all_its_files(root, config):
    assert runs(root, f"CONFIG={config}") == [config]
