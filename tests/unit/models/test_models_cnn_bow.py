"""Bags of words: fixed vectors, of a package or of a file in word2vec's format, and their mean."""

import gzip
import struct

import numpy as np
import pytest
import torch

from compvqa.errors import InputError
from compvqa.models import cnn_bow
from compvqa.models.task import Task
from compvqa.models.vectors import word_vectors
from compvqa.training.data import word_tokenizer

VECTORS = {"red": [1.0, 2, 3], "it": [4.0, 5, 6], "zebra": [7.0, 8, 9]}


@pytest.fixture
def file(tmp_path):
    """A file as word2vec writes it."""
    written = f"{len(VECTORS)} 3\n".encode()
    for word, vector in VECTORS.items():
        written += word.encode() + b" " + struct.pack("<3f", *vector) + b"\n"
    (tmp_path / "words.bin").write_bytes(written)
    return tmp_path / "words.bin"


def net(texts, words=""):
    settings = cnn_bow.ModelSettings(words=str(words), classifier=())
    return cnn_bow.build(settings, Task(word_tokenizer(texts), ["no", "yes"], 2))


def test_the_words_of_a_file_that_are_asked_for_are_found(file):
    found = word_vectors(["red", "it", "quux"], str(file))
    assert {word: vector.tolist() for word, vector in found.items()} == {word: VECTORS[word] for word in ("red", "it")}


def test_a_packed_file_gives_the_same_and_a_damaged_one_is_refused(file):
    packed = file.with_name("words.bin.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert {word: vector.tolist() for word, vector in word_vectors(VECTORS, str(packed)).items()} == VECTORS
    for damaged in (packed.read_bytes()[:-9], b"no archive"):
        packed.write_bytes(damaged)
        with pytest.raises(InputError, match="is damaged .*fetch it again"):
            word_vectors(["quux"], str(packed))


def test_a_file_that_is_cut_or_no_such_file_is_refused(file, tmp_path):
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(InputError, match="ends in word 3 of 3"):
        word_vectors(["zebra"], str(file))
    file.write_bytes(b"a text\n")
    with pytest.raises(InputError, match="no file of word2vec's binary format"):
        word_vectors(["red"], str(file))
    with pytest.raises(InputError, match="can't be read"):
        word_vectors(["red"], str(tmp_path / "gone.bin"))


def test_the_embedded_vectors_know_that_colors_are_near_each_other():
    found = word_vectors(["red", "blue", "metal"], "")
    near = {
        name: float(np.dot(found["red"], found[name]) / np.linalg.norm(found["red"]) / np.linalg.norm(found[name]))
        for name in ("blue", "metal")
    }
    assert len(found["red"]) == 50 and near["blue"] > 0.8 > near["metal"]


def test_the_mean_is_of_words_that_have_a_vector_and_knows_no_order_and_no_padding(file):
    made = net(["is it red ?"], file)
    tokens = word_tokenizer(["is it red ?"]).encode("is it red ?").ids
    mean = made.mean(torch.tensor([tokens]), torch.ones(1, len(tokens)).long())
    assert mean.tolist() == [[2.5, 3.5, 4.5]]
    turned = torch.tensor([[*reversed(tokens), 0, 0]])
    assert torch.equal(made.mean(turned, (turned > 0).long()), mean)
    nothing = made.mean(torch.tensor([[2, 3]]), torch.ones(1, 2).long())
    assert nothing.tolist() == [[0, 0, 0]]


def test_numbers_of_any_scale_are_standardised_by_the_batches_of_training(file):
    settings = cnn_bow.ModelSettings(words=str(file), classifier=(), standardised=True)
    made = cnn_bow.build(settings, Task(word_tokenizer(["is it red ?"]), ["no", "yes"], 2))
    torch.manual_seed(0)
    rows = torch.randn(400, 5) * torch.tensor([0.1, 1, 10, 1e3, 1]) + 7
    for _ in range(80):
        shown = made.scaled(rows)
    assert torch.allclose(shown.mean(dim=0), torch.zeros(5), atol=1e-3)
    assert torch.allclose(
        shown.std(dim=0), torch.ones(5), atol=0.15
    )  # the first is as small as what is added to spreads
    one = made.scaled(rows[:1])  # as a last batch may be
    assert torch.equal(made.eval().scaled(rows[:1]), one) and torch.allclose(one, shown[:1], atol=0.2)
    assert "scaled.running_mean" in made.state_dict()


def test_vectors_are_kept_with_the_weights_and_not_learnt(file):
    made = net(["is it red ?"], file)
    assert "vectors" in made.state_dict() and "vectors" not in dict(made.named_parameters())


def test_vectors_of_no_word_at_all_are_refused(file):
    with pytest.raises(InputError, match="has no vector of any word"):
        net(["quux ?"], file)
