"""What a job's work grows with."""

import pytest

from compvqa.planning.jobs import MB, Job, Load, load_of, models_of


def job(inputs=(), settings=None, shard=None, outputs=()):
    return Job("j", "rule", "stage", tuple(inputs), tuple(outputs), settings=settings, shard=shard)


@pytest.mark.parametrize(
    "looked_up", ["features.safetensors", "resources/volta/model.bin", "resources/hub/unc-nlp--lxmert@main.json"]
)
def test_files_that_are_looked_things_up_in_are_no_work(looked_up):
    sizes = {"questions.parquet": 3 * MB, looked_up: 900 * MB}
    assert load_of(job(sizes), sizes) == Load(3, 3, "MB")
    assert load_of(job(sizes), {"questions.parquet": 3 * MB}) == Load(3, 3, "MB")


def test_lists_that_are_no_checkpoints_are_work():
    assert load_of(job(["a@b/terms.json"]), {"a@b/terms.json": 2 * MB}) == Load(2, 2, "MB")


@pytest.mark.parametrize("shards", [1, 2, 16])
def test_the_shards_together_go_through_what_all_of_them_read_once(shards):
    items = [f"{i}-of-{shards}" for i in range(1, shards + 1)]
    sizes = {"scenes.parquet": 8 * MB} | {f"seeds/{item}.parquet": 2 * MB for item in items}
    loads = [load_of(job(["scenes.parquet", f"seeds/{item}.parquet"], shard=item), sizes) for item in items]
    assert sum(load.mb for load in loads) == pytest.approx(8 + 2 * shards)


def test_a_training_that_the_config_ends_is_counted_in_examples():
    phases = {"optimisation": {"most_steps": 100, "batch_size": 64}, "several": {"most_steps": 10, "batch_size": 32}}
    assert load_of(job(["a"], {"pretraining": phases}), {"a": 5 * MB}) == Load(5, 6720, "examples")


def test_a_training_that_only_its_passes_end_grows_with_both():
    assert load_of(job(["a"], {"training": {"epochs": 8}}), {"a": 5 * MB}) == Load(5, 40, "MB x epochs")


def test_a_world_that_is_drawn_is_counted_in_scenes():
    settings = {"train_scenes": 600, "val_scenes": 200, "objects": 9}
    assert load_of(job(settings=settings), {}) == Load(0, 800, "scenes")


def test_a_shard_of_a_side_draws_its_share_of_the_scenes():
    settings = {"scenes": 700, "split": "train"}
    assert load_of(job(settings=settings), {}) == Load(0, 700, "scenes")
    assert load_of(job(settings=settings, shard="2-of-100"), {}) == Load(0, 7, "scenes")


def test_a_model_is_told_by_its_size_and_its_weights_carry_it_on():
    train = job(
        settings={"model": "lxmert", "settings": {"hidden_size": 64, "longest": 9}}, outputs=[("w", "m.safetensors")]
    )
    ask = job(["m.safetensors", "seeds.parquet"], {"method": "learned"})
    words = job(settings={"encoder": {"checkpoint": "minilm", "changes": {"hidden_size": 32}}})
    large = job(settings={"model": "lxmert", "settings": {"checkpoint": "unc-nlp/lxmert-base-uncased"}})
    pictures = job(settings={"backbone": "microsoft/resnet-101", "side": 224, "stride": 16, "threads": 1})
    crops = job(settings={"describe": "network", "network": {"backbone": "microsoft/resnet-101", "side": 224}})
    contrast = job(settings={"describe": "contrast", "network": {"backbone": ""}})
    drawn = job(
        settings={"world": {"sides": {}, "all": {"width": 144, "height": 96, "light_samples": 4, "depth": True}}}
    )
    asked = job(settings={"model": {"prompt": "short", "inspect": "vllm/some-model"}})
    assert models_of([train, ask, words, large, pictures, crops, contrast, drawn, asked, job(["seeds.parquet"])]) == [
        "lxmert hidden_size=64",
        "lxmert hidden_size=64",
        "minilm hidden_size=32",
        "unc-nlp/lxmert-base-uncased",
        "microsoft/resnet-101 side=224 stride=16",
        "microsoft/resnet-101 side=224 of crops",
        "",
        "pictures width=144 height=96 light_samples=4",
        "inspect=vllm/some-model prompt=short",
        "",
    ]
