"""The same config and seed give the same bytes, however the work is cut, ordered or hashed."""

from fixtures.answers import assert_answers_hold
from fixtures.project import copy_project

TABLES = ("*/dataset/*.parquet", "*/splits/*.parquet", "*/questions/questions.parquet")


def test_the_demo_has_equal_hashes_for_shards_cores_and_hash_seeds_and_all_its_answers_hold(root, tmp_path):
    hashes = []
    for shards, cores, hash_seed in ((1, 1, "1"), (4, 2, "77")):
        project = copy_project(root, tmp_path / f"shards-{shards}")
        project.config = "config/config.yaml"
        project.environment = {"PYTHONHASHSEED": hash_seed}
        project.run("dataset", "--config", f"shards={shards}", cores=cores)
        hashes.append(project.hashes(*TABLES))
    assert hashes[0] == hashes[1]
    assert assert_answers_hold(project.folder / "results/covr-sprites") > 50_000
