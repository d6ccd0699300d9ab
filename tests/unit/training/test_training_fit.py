"""Training: learns, gives equal bytes again, and goes on where it was stopped."""

import numpy as np
import pytest
import torch
from transformers import TrainerCallback

from compvqa.features.store import ImageRegions, RegionStore, write
from compvqa.models.multi_image import MultiImageModel
from compvqa.models.visualbert import Backbone, ModelSettings
from compvqa.training import fit as fitting
from compvqa.training.data import collate, examples, word_tokenizer
from compvqa.training.fit import OptimisationSettings, fit, last_checkpoint, prepare

MODEL = ModelSettings(hidden_size=16, layers=1, heads=2, image_layers=1)
SETTINGS = OptimisationSettings(most_steps=12, batch_size=8, evaluations=3, patience=0)


@pytest.fixture
def data(tmp_path):
    draw = np.random.default_rng(0)
    images = [
        ImageRegions(f"s:{n}", np.ones((2, 4), np.float32), (9.0, 9.0), draw.normal(size=(2, 4))) for n in range(9)
    ]
    write(tmp_path / "r.parquet", tmp_path / "f.safetensors", images, 4, 18)
    texts = ["is it red ?" if n % 2 else "is it blue ?" for n in range(32)]
    store = RegionStore(tmp_path / "r.parquet", tmp_path / "f.safetensors")
    shown = [[f"s:{n % 9}", f"s:{(n + 1) % 9}"] for n in range(32)]
    tokenizer = word_tokenizer(texts)
    return examples(texts, shown, [n % 2 for n in range(32)], tokenizer, store, 64), tokenizer.get_vocab_size()


def run(data, out, settings=SETTINGS):
    asked, words = data
    seed = prepare(settings, 0, "test")
    made = MultiImageModel(Backbone(MODEL, words, 4), MODEL, 2)
    done = fit(made, asked, asked, out, settings, seed, "test", ["test"], collate=collate)
    return done, (out / "model.safetensors").read_bytes(), (out / "history.parquet").read_bytes()


def test_equal_runs_give_equal_bytes(data, tmp_path):
    assert run(data, tmp_path / "a")[1:] == run(data, tmp_path / "b")[1:]


def test_words_alone_are_learnt(data, tmp_path):
    done = run(
        data, tmp_path / "a", SETTINGS.model_copy(update={"most_steps": 200, "epochs": 60, "learning_rate": 3e-3})
    )
    assert done[0]["accuracy"] == 1.0


def test_a_stopped_run_goes_on_to_the_same_bytes(data, tmp_path, monkeypatch):
    class Stop(TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            if state.global_step == 9:
                raise KeyboardInterrupt

    whole = run(data, tmp_path / "whole")
    usual = fitting.Trainer
    monkeypatch.setattr(fitting, "Trainer", lambda **kw: usual(**(kw | {"callbacks": [*kw["callbacks"], Stop()]})))
    with pytest.raises(KeyboardInterrupt):
        run(data, tmp_path / "cut")
    monkeypatch.setattr(fitting, "Trainer", usual)
    (folder,) = (tmp_path / "cut").glob("checkpoints-*")
    assert last_checkpoint(folder).endswith("checkpoint-8")
    assert run(data, tmp_path / "cut")[1:] == whole[1:]
    assert not folder.exists()


def test_threads_come_from_the_settings():
    prepare(SETTINGS.model_copy(update={"threads": 2}), 0, "test")
    assert torch.get_num_threads() == 2
    prepare(SETTINGS, 0, "test")
    assert torch.get_num_threads() == 1


def test_pretrained_layers_have_a_rate_of_their_own(data):
    _, words = data
    made = MultiImageModel(Backbone(MODEL, words, 4), MODEL, 2)
    settings = SETTINGS.model_copy(update={"learning_rate": 1e-2, "pretrained_rate": 0.1})
    known, new = fitting._optimizer(made, settings, ("classifier.",)).param_groups
    assert {value.data_ptr() for value in new["params"]} == {p.data_ptr() for p in made.classifier.parameters()}
    assert len(known["params"]) + len(new["params"]) == len(list(made.parameters()))
    assert (known["lr"], new["lr"]) == (pytest.approx(1e-3), pytest.approx(1e-2))
    assert not fitting._optimizer(made, settings, ("",)).param_groups[0]["params"]
