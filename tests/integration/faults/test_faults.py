"""Whatever happens to a run, the next one ends with the bytes of a run to which nothing happened, or names the file.

`make faults ROUNDS=200` plays more rounds than these.
"""

import pytest

from integration.faults.chain import Chain, run_clean
from integration.faults.rounds import FAULTS, play

pytestmark = pytest.mark.xdist_group("faults")  # one process, so that the chain runs once
ROUNDS, SEED = 20, 1
assert len(FAULTS) < ROUNDS, "each fault must come"


@pytest.fixture(scope="module")
def chain(root, tmp_path_factory) -> Chain:
    return run_clean(root, tmp_path_factory.mktemp("clean") / "project")


@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_run_recovers_from_a_fault(chain, tmp_path, number):
    play(chain, tmp_path / "project", SEED, number)


def test_a_changed_result_does_not_pass(chain, tmp_path):
    project = chain.without([], tmp_path / "project")
    assert chain.faults_of(project, list(chain.jobs)) == []
    (project.folder / chain.jobs[-1].outputs[0]).write_text("other")
    (project.folder / chain.jobs[1].outputs[0]).unlink()
    (project.folder / "results/.left.tmp").write_text("")
    assert len(chain.faults_of(project, list(chain.jobs))) == 3
