"""The benchmarks of the chain run to their end on few simulated scenes; what they measure is for people to read."""

import os
import subprocess
import sys

import pytest

COVR = os.environ.get("COMPVQA_COVR", "")


@pytest.fixture(scope="module")
def folder(root, shared, tmp_path_factory):
    """What benchmarks/graph.py makes of 120 scenes, and what it prints."""
    made = tmp_path_factory.mktemp("benchmark")
    ontology = shared / "data/vocab"
    printed = run(root, "graph.py", made, "--ontology", ontology, "--scenes", 120)
    return made / "120", printed


def run(root, script, *arguments):
    command = [sys.executable, root / "benchmarks" / script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def rows(printed):
    """The rows of the printed table, by their first cell."""
    return {line.split()[0]: line.split() for line in printed.splitlines() if line.strip()}


def test_the_costs_of_the_graph_s_stages(folder):
    _, printed = folder
    found = rows(printed)
    assert {"ingest", "scenes", "subgraphs", "overlap", "candidates", "presence", "related", "image_examples"} <= set(
        found
    )
    assert "at most 1500MB in DuckDB, and 20GB of scratch" in printed


def test_the_costs_of_questions(root, folder):
    printed = run(root, "questions.py", folder[0], "--rows", 20_000)
    found = rows(printed)
    made = int(found["questions"][1].replace(",", ""))
    assert made > 100
    assert int(found["balance"][1].replace(",", "")) == 20_000


def test_the_rates_of_our_questions(root, shared, folder):
    given = ["--ontology", shared / "data/vocab", "--scenes", 120, "--shards", 1]
    found = {
        line.split("  ")[0]: line.split()[-5:] for line in run(root, "rates.py", folder[0].parent, *given).splitlines()
    }
    alone, whole = (found[f"ours, {what}"] for what in ("the stage questions", "from subgraphs on"))
    assert alone[0] == whole[0] and int(alone[0].replace(",", "")) > 100
    assert float(alone[1]) < float(whole[1]) and whole[3] == "1.00"


@pytest.mark.long_neo4j
def test_loading_beside_the_plain_way(root, shared, server_command, tmp_path):
    if "serve_neo4j.py" not in server_command:
        pytest.skip("needs Neo4j itself")
    given = ["--ontology", shared / "data/vocab", "--scenes", 120, "--rounds", 1, "--server", server_command]
    lines = run(root, "loading.py", tmp_path, *given).splitlines()[1:]
    assert [line.split("  ")[0] for line in lines] == ["plain, packed in Python", "plain", "load-neo4j"]
    assert lines[-1].endswith("1.0 (1.0 to 1.0)")


@pytest.mark.skipif(not COVR, reason="needs a checkout of github.com/benbogin/covr-dataset: name it in COMPVQA_COVR")
def test_the_authors_own_code_gives_the_scores_that_ours_gives(root, tmp_path):
    printed = run(root, "as_released.py", COVR, tmp_path, "--model", "ctrl_visualbert_base", "--questions", 6)
    lines = [line.split("  ") for line in printed.splitlines() if line.startswith("ctrl_")]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert len(cells) == 2
    for _, _, asked, off, deviation, same, _ in cells:
        assert asked == same == "6" and float(off) < 1e-4 and float(deviation.split()[0]) > 0.01


def test_as_released_asks_for_a_checkout(root, tmp_path):
    command = [sys.executable, root / "benchmarks/as_released.py", tmp_path, tmp_path / "made"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.endswith("name a checkout of github.com/benbogin/covr-dataset.\n")
