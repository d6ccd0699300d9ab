"""Stacked attention: as loops over cells say, whatever is padded, and by default without places."""

import math

import pytest
import torch

from compvqa.models import cnn_lstm_sa
from compvqa.models.cnn_lstm_sa import Attention
from compvqa.models.task import Task
from compvqa.training.data import word_tokenizer


def test_a_round_is_what_loops_over_cells_give():
    torch.manual_seed(0)
    attention, cells, state = Attention(3, 4), torch.randn(2, 5, 3), torch.randn(2, 3)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    shares = attention(attention.of_cell(cells), state, mask)
    assert torch.equal(shares[1, 3:], torch.zeros(2))
    of_cell, of_state = attention.of_cell, attention.of_state
    for row in range(2):
        real = [cells[row, k] for k in range(5) if mask[row, k]]
        scores = []
        for cell in real:
            hidden = [
                math.tanh((of_cell.weight[h] @ cell + of_cell.bias[h] + of_state.weight[h] @ state[row]).item())
                for h in range(4)
            ]
            scores.append(sum(attention.weight.weight[0, h].item() * hidden[h] for h in range(4)))
        total = sum(map(math.exp, scores))
        wanted = torch.tensor([math.exp(score) / total for score in scores])
        assert torch.allclose(shares[row, : len(real)], wanted, atol=1e-5)


def net(**changes):
    torch.manual_seed(0)
    settings = cnn_lstm_sa.ModelSettings(**{"word_size": 4, "hidden_size": 6, "attention_size": 5} | changes)
    return cnn_lstm_sa.build(settings, Task(word_tokenizer([" ".join(map(str, range(30)))]), ["no", "yes"], 7)).eval()


@pytest.mark.parametrize(("hidden_size", "at_once"), [(6, True), (2, False)])
def test_rounds_follow_each_other_and_padded_cells_are_not_seen(batch, hidden_size, at_once):
    given = batch | {"question_of": torch.arange(2)}
    made = net(rounds=3, hidden_size=hidden_size, attention_size=50)
    assert made.at_once == at_once  # either way to multiply gives the same
    whole = made(**given)["logits"]
    cells, state = made.cells(given["features"]), made.reader(given["input_ids"], given["attention_mask"])
    for attention in made.rounds:
        shares = attention(attention.of_cell(cells), state, given["region_mask"])
        state = state + (shares[..., None] * cells).sum(dim=1)
    assert len(made.rounds) == 3 and torch.allclose(whole, made.classifier(state), atol=1e-6)
    noise = given["features"] + 100 * torch.randn(2, 4, 7) * (1 - given["region_mask"])[..., None]
    assert torch.allclose(made(**given | {"features": noise})["logits"], whole, atol=1e-5)


def test_places_count_where_they_are_asked_for_and_else_the_order_of_cells_does_not(batch):
    given = batch | {"question_of": torch.arange(2), "region_mask": torch.ones(2, 4).long()}
    moved = given | {"features": given["features"].flip(1)}
    assert torch.allclose(net()(**moved)["logits"], net()(**given)["logits"], atol=1e-5)
    assert not torch.allclose(net(places=True)(**moved)["logits"], net(places=True)(**given)["logits"], atol=1e-4)


def test_questions_that_share_a_picture_learn_from_it_as_if_each_had_its_own(batch):
    whose, labels = torch.tensor([1, 0, 1, 1, 0]), torch.tensor([0, 1, 1, 0, 1])
    texts = {name: batch[name][[0, 1, 1, 0, 0]] for name in ("input_ids", "attention_mask")}
    seen = {name: batch[name] for name in ("features", "geometry", "region_mask")}
    given = [
        seen | {"picture_of": whose},
        {name: part[whose] for name, part in seen.items()} | {"question_of": torch.arange(5)},
    ]
    for changes in ({}, {"places": True}, {"hidden_size": 2, "normalised": True}):
        gradients = []
        for pictures in given:
            made = net(**changes)
            made(**texts, **pictures, labels=labels)["loss"].backward()
            gradients.append([value.grad for value in made.parameters()])
        assert all(torch.allclose(*pair, atol=1e-6) for pair in zip(*gradients, strict=True))
