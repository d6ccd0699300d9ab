"""CLEVR's models of one picture: blind to padding, deaf to zeroed pictures, they learn what picture and words say
together, and go on where they were stopped to the same bytes."""

import numpy as np
import pytest
import torch

from compvqa import tables
from compvqa.errors import InputError
from compvqa.features.grids import GRIDS, files_of
from compvqa.features.store import ImageRegions, RegionStore, appending, write
from compvqa.models import cnn_bow, cnn_lstm, cnn_lstm_mcb, cnn_lstm_sa, lxmert_vqa
from compvqa.models.task import Task
from compvqa.training import loop
from compvqa.training.data import collate, examples, word_tokenizer
from compvqa.training.fit import OptimisationSettings, fit, prepare
from compvqa.training.prediction import predict
from fixtures.trainings import stopped
from unit.models.asked import Asked

SHAPES, COLORS = ("cube", "sphere", "cylinder"), ("red", "blue", "green")
SMALL = {"word_size": 16, "hidden_size": 32, "layers": 1}
MODELS = {
    cnn_bow: {"classifier": (64,)},
    cnn_lstm: SMALL | {"classifier": (64,)},
    cnn_lstm_mcb: SMALL | {"layers": 2, "sketch_size": 256, "dropout": 0},
    cnn_lstm_sa: SMALL | {"attention_size": 32},
    lxmert_vqa: {"hidden_size": 32, "cross_layers": 1, "dropout": 0.02, "initializer_range": 0.2},
}
SLOW = {lxmert_vqa: {"most_steps": 500, "learning_rate": 2e-3}}
each_model = pytest.mark.parametrize("module", MODELS, ids=lambda module: module.__name__.rpartition(".")[2])


def build(module, tokenizer, dimension, answers=3, **changes):
    torch.manual_seed(0)
    task = Task(tokenizer, [str(n) for n in range(answers)], dimension)
    return module.build(module.ModelSettings(**MODELS[module] | changes), task).eval()


@pytest.fixture(scope="module")
def tokenizer():
    return word_tokenizer([f"what color is the {' '.join(SHAPES)} ? {' '.join(COLORS)}"])


def batch(module, tokenizer, cells=4, dimension=5):
    """Three questions of other lengths, about a picture each."""
    draw = torch.Generator().manual_seed(1)
    texts = ["what color is the cube ?", "the sphere", "what color is the blue cylinder ?"]
    encoded = [torch.tensor(tokenizer.encode(text).ids) for text in texts]
    cells = cells if module.READS == ("regions",) else 1
    return {
        "input_ids": torch.nn.utils.rnn.pad_sequence(encoded, batch_first=True),
        "attention_mask": torch.nn.utils.rnn.pad_sequence([torch.ones_like(ids) for ids in encoded], batch_first=True),
        "features": torch.randn(3, cells, dimension, generator=draw).half(),
        "geometry": torch.rand(3, cells, 5, generator=draw),
        "region_mask": torch.ones(3, cells).long(),
        "question_of": torch.arange(3),
    }


@each_model
def test_padding_of_words_changes_nothing(module, tokenizer):
    net, given = build(module, tokenizer, 5), batch(module, tokenizer)
    whole = net(**given)["logits"]
    assert whole.shape == (3, 3)
    for number in range(3):
        alone = {name: value[number : number + 1] for name, value in given.items() if name != "question_of"}
        length = int(alone["attention_mask"].sum())
        alone |= {name: alone[name][:, :length] for name in ("input_ids", "attention_mask")}
        assert torch.allclose(net(**alone, question_of=torch.zeros(1).long())["logits"][0], whole[number], atol=1e-3)


@each_model
def test_a_picture_tells_something_unless_images_are_zeroed(module, tokenizer):
    given = batch(module, tokenizer)
    other = given | {"features": given["features"].flip(0)}
    for images, alike in (("seen", False), ("zeroed", True)):
        net = build(module, tokenizer, 5, images=images)
        assert torch.allclose(net(**given)["logits"], net(**other)["logits"], atol=1e-5) == alike


@each_model
def test_questions_about_several_pictures_are_refused(module, tokenizer):
    net, given = build(module, tokenizer, 5), batch(module, tokenizer)
    for pictures in ([0, 0, 1], [0, 1]):
        with pytest.raises(ValueError, match="one picture each"):
            net(**given | {"question_of": torch.tensor(pictures), "features": given["features"][: len(pictures)]})


@each_model
def test_unknown_answers_have_no_loss_and_features_may_be_of_any_precision(module, tokenizer):
    net, given = build(module, tokenizer, 5), batch(module, tokenizer)
    known = net(**given, labels=torch.tensor([1, -100, 2]))["loss"]
    one, other = (net(**given, labels=torch.tensor(labels))["loss"] for labels in ([1, -100, -100], [-100, -100, 2]))
    assert torch.allclose(known, (one + other) / 2, atol=1e-6) and not torch.allclose(one, other)
    if module is not lxmert_vqa:
        some = net(**given)["logits"].log_softmax(dim=1)
        assert torch.allclose(known, -(some[0, 1] + some[2, 2]) / 2, atol=1e-6)
    wide = net(**given | {"features": given["features"].float()})["logits"]
    assert torch.equal(wide, net(**given)["logits"])


@each_model
def test_layers_may_compute_in_bfloat16(module, tokenizer):
    net, given = build(module, tokenizer, 5), batch(module, tokenizer)
    try:
        with torch.autocast("cpu", torch.bfloat16):
            narrow = net(**given, labels=torch.tensor([1, 0, 2]))
    except RuntimeError as error:
        if "LSTM forward propagation primitive" in str(error):
            pytest.skip("PyTorch has no LSTM in bfloat16 for this processor")
        raise
    assert torch.allclose(narrow["logits"].float(), net(**given)["logits"], atol=0.1)
    narrow["loss"].backward()


@each_model
@pytest.mark.parametrize("normalised", [False, True])
def test_large_numbers_are_brought_to_one_scale_where_it_is_asked_for(module, tokenizer, normalised):
    net, given = build(module, tokenizer, 5, normalised=normalised), batch(module, tokenizer)
    moved = given | {"features": 3 * given["features"].float() + 1}
    assert torch.allclose(net(**moved)["logits"], net(**given)["logits"], atol=1e-3) == normalised


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Pictures of three cells, each of a shape and a color, and questions for the color of one of them: stores of the
    cells and of the whole pictures, and the questions' texts, pictures and labels."""
    folder, draw = tmp_path_factory.mktemp("asked"), np.random.default_rng(0)
    grids, whole, texts, images, labels = [], [], [], [], []
    for number in range(120):
        shapes, colors = draw.permutation(3), draw.integers(0, 3, 3)
        cells = np.concatenate([np.eye(3)[shapes], np.eye(3)[colors]], axis=1).astype(np.float32)
        grids.append(ImageRegions(f"s:{number}", np.ones((3, 4), np.float32), (9.0, 9.0), cells))
        pairs = np.zeros((3, 3), np.float32)
        pairs[shapes, colors] = 1
        whole.append(ImageRegions(f"s:{number}", np.ones((1, 4), np.float32), (9.0, 9.0), pairs.reshape(1, 9)))
        for place, shape in enumerate(shapes):
            texts.append(f"what color is the {SHAPES[shape]} ?")
            images.append([f"s:{number}"])
            labels.append(int(colors[place]))
    stores = {}
    for kind, pictures in (("regions", grids), ("pooled", whole)):
        files = folder / f"{kind}.parquet", folder / f"{kind}.safetensors"
        write(*files, pictures, pictures[0].features.shape[1])
        stores[kind] = RegionStore(*files)
    return stores, texts, images, labels


def run(module, asked, tokenizer, out, **steps):
    """Train the model on the first 240 questions and test it on the others, which are about other pictures."""
    stores, texts, images, labels = asked
    store = stores[module.READS[0]]
    parts = [
        examples(texts[part], images[part], labels[part], tokenizer, store, 64)
        for part in (slice(240), slice(240, None))
    ]
    given = {"epochs": 999, "most_steps": 200, "batch_size": 32, "learning_rate": 1e-2, "evaluations": 3, "patience": 0}
    settings = OptimisationSettings(**given | {"weight_decay": 0} | SLOW.get(module, {}) | steps)
    seed = prepare(settings, 0, "test")
    net = build(module, tokenizer, store.dimension).train()
    done = fit(
        net, *parts, out, settings, seed, "test", ["test"], collate=collate, optimizer=module.optimizer(net, settings)
    )
    return done, (out / "model.safetensors").read_bytes(), (out / "history.parquet").read_bytes()


@each_model
def test_what_words_and_picture_say_together_is_learnt(module, asked, tokenizer, tmp_path):
    done, *_ = run(module, asked, tokenizer, tmp_path)
    assert done["accuracy"] > 0.9  # a third, for who knows the words or the picture alone


@pytest.mark.parametrize("module", [cnn_lstm, cnn_lstm_sa, lxmert_vqa], ids=["pooled", "regions", "lxmert"])
def test_a_store_of_grids_is_trained_on_and_asked_from(module, tmp_path):
    questions, side = Asked(tmp_path / "asked"), 1 if module is cnn_lstm else 2
    with appending(tmp_path / "grid.safetensors", 5) as append:
        append(np.ones((side**2, 5)))
    row = {"image": "s:1", "file": "grid.safetensors", "row": 0, "cells": side, "image_w": 9.0, "image_h": 9.0}
    tables.write(tmp_path / "regions.parquet", GRIDS, [row])
    given = questions.folder / "questions.parquet", None, ["train"], ["dev"], questions.folder / "scenes.parquet"
    store = files_of(tmp_path)
    name = module.__name__.rpartition(".")[2]
    settings = loop.TrainingSettings(most_regions=4, optimisation={"most_steps": 2, "batch_size": 8})
    size = module.ModelSettings(**MODELS[module])
    counts = loop.train(name, *given, *store, None, tmp_path / "run", size, settings, 1)
    assert counts["steps"] == 2
    asked = given[0], None, ["dev"], given[4]
    told = predict(tmp_path / "run", "a.b.c.1", *asked, *store, tmp_path / "told.parquet")
    assert told["out"] == told["in"] > 0
    with pytest.raises(InputError, match=f"the model {name} reads {module.READS[0]}: name the folder"):
        loop.train(name, *given, None, None, None, tmp_path / "run", size, settings, 1)


@each_model
def test_a_stopped_run_goes_on_to_the_same_bytes(module, asked, tokenizer, tmp_path):
    _, *whole = run(module, asked, tokenizer, tmp_path / "whole", most_steps=6)
    with stopped(5):
        run(module, asked, tokenizer, tmp_path / "cut", most_steps=6)
    assert list((tmp_path / "cut").glob("checkpoints-*/last.pt"))
    assert run(module, asked, tokenizer, tmp_path / "cut", most_steps=6)[1:] == tuple(whole)
