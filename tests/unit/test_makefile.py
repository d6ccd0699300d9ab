"""What `make demo` and `make clean` would run, which make says without running it."""

import re
import subprocess

import pytest
import yaml


def said_by(root, *given: str) -> str:
    """The lines that make would run."""
    line = ["make", "--no-print-directory", "-n", *given]
    return subprocess.run(line, cwd=root, capture_output=True, text=True, check=True).stdout


def runs(root, *given: str) -> list[str]:
    """The configs that Snakemake would be given, one run after another."""
    said = said_by(root, "demo", *given)
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


def test_how_long_the_demo_takes_is_said_of_the_demo_alone(root):
    assert said_by(root, "demo").count("minutes on two cores") == 1
    assert "minutes" not in said_by(root, "demo", "CONFIG=config/tiny.yaml")


def test_clean_removes_the_worlds_that_the_demo_draws_and_no_download(root):
    (removed,) = re.findall(r"^rm -rf (.*)$", said_by(root, "clean"), re.MULTILINE)
    (named,) = re.findall(r"^DEMO := (.*)$", (root / "Makefile").read_text(), re.MULTILINE)
    worlds = [yaml.safe_load((root / config).read_text())["world"] for config in named.split()]
    drawn = {world.get("folder", f"resources/{world['kind']}") for world in worlds}
    assert {path for path in removed.split() if path.startswith("resources")} == drawn | {"resources/asked"}
