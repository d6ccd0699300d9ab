"""Compact bilinear pooling: the sketch by the Fourier transform is that of the outer product, term by term."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from compvqa.models import cnn_lstm_mcb
from compvqa.models.cnn_lstm_mcb import CountSketch, compact_product
from compvqa.models.task import Task
from compvqa.training.data import word_tokenizer


@settings(max_examples=30)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 24), st.integers(0, 1000))
def test_the_product_of_sketches_is_the_count_sketch_of_the_outer_product(size, other_size, sketch_size, seed):
    torch.manual_seed(seed)
    one, other = CountSketch(size, sketch_size), CountSketch(other_size, sketch_size)
    vectors, others = torch.randn(2, size), torch.randn(2, other_size)
    wanted = np.zeros((2, sketch_size))
    for row in range(2):
        for i in range(size):
            for j in range(other_size):
                place = (int(one.place[i]) + int(other.place[j])) % sketch_size
                sign = float(one.sign[i] * other.sign[j])
                wanted[row, place] += sign * float(vectors[row, i]) * float(others[row, j])
    found = compact_product(one(vectors), other(others))
    assert np.allclose(found.numpy(), wanted, atol=1e-4)


def test_products_of_sketches_tell_the_products_of_inner_products():
    """What bilinear pooling is for: on average over draws, inner products of sketches are those of outer products."""
    torch.manual_seed(0)
    x, y, u, v = torch.randn(4, 1, 6)
    found = []
    for _ in range(3000):
        one, other = CountSketch(6, 64), CountSketch(6, 64)
        found.append(float((compact_product(one(x), other(u)) * compact_product(one(y), other(v))).sum()))
    exact = float((x * y).sum() * (u * v).sum())
    assert abs(np.mean(found) - exact) < 4 * np.std(found) / len(found) ** 0.5
    assert np.std(found) < 5 * max(1, abs(exact))


def net(**changes):
    torch.manual_seed(0)
    sizes = cnn_lstm_mcb.ModelSettings(**{"word_size": 4, "hidden_size": 3, "sketch_size": 16} | changes)
    return cnn_lstm_mcb.build(sizes, Task(word_tokenizer(["is it red ?"]), ["no", "yes"], 5)).eval()


def test_the_net_classifies_the_rooted_normalised_sketch_of_both_lstms_and_the_picture():
    made = net(layers=2)
    ids = torch.tensor([[2, 7, 8, 9, 3]])
    picture = torch.randn(1, 1, 5)
    rest = {"geometry": torch.zeros(1, 1, 5), "region_mask": torch.ones(1, 1), "question_of": torch.zeros(1).long()}
    found = made(input_ids=ids, attention_mask=torch.ones_like(ids), features=picture, **rest)["logits"]
    low, (last, _) = made.lstms[0](made.words(ids))
    _, (above, _) = made.lstms[1](low)
    product = compact_product(made.of_question(torch.cat([last[0], above[0]], dim=1)), made.of_picture(picture[:, 0]))
    rooted = product.sign() * product.abs().sqrt()
    assert torch.allclose(found, made.classifier(rooted / rooted.norm()), atol=1e-3)


def test_sketches_are_drawn_once_and_kept_with_the_weights():
    one, again = net(), net()
    again.of_picture.place.zero_()
    again.load_state_dict(one.state_dict())
    assert torch.equal(one.of_picture.place, again.of_picture.place)
    assert set(one.of_picture.sign.tolist()) <= {-1.0, 1.0} and "of_question.sign" in one.state_dict()


def test_a_picture_of_zeros_has_a_finite_slope():
    made = net()
    ids = torch.tensor([[2, 7, 3]])
    rest = {"geometry": torch.zeros(1, 1, 5), "region_mask": torch.ones(1, 1), "question_of": torch.zeros(1).long()}
    made(
        input_ids=ids, attention_mask=torch.ones_like(ids), features=torch.zeros(1, 1, 5), labels=torch.ones(1).long(),
        **rest,
    )["loss"].backward()  # fmt: skip
    assert all(torch.isfinite(value.grad).all() for value in made.parameters() if value.grad is not None)


@pytest.mark.parametrize("size", [1, 7, 16])
def test_a_sketch_of_odd_length_is_as_long_as_it_says(size):
    assert compact_product(CountSketch(4, size)(torch.randn(3, 4)), torch.randn(3, size)).shape == (3, size)
