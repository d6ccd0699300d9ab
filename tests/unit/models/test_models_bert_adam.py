"""BERT's Adam, beside its rule written down for one number."""

import math

import pytest
import torch

from compvqa.files import read_yaml
from compvqa.models.bert_adam import BertAdam, optimizer
from compvqa.training.data import collate
from compvqa.training.fit import OptimisationSettings, fit

GRADIENTS = [[0.5, -2.0, 1e-7], [0.3, 0.0, 1e-7], [-0.4, 1.0, -2e-7], [0.1, 0.2, 0.0]]
START, RATE, DECAY = [1.0, -0.5, 0.25], 0.1, 0.01


def by_hand(value, gradients, beta1=0.9, beta2=0.999, epsilon=1e-6):
    """One number's course: means from 0, not corrected; the weight itself decays beside the step."""
    mean = square = 0.0
    for gradient in gradients:
        mean = beta1 * mean + (1 - beta1) * gradient
        square = beta2 * square + (1 - beta2) * gradient * gradient
        value -= RATE * (mean / (math.sqrt(square) + epsilon) + DECAY * value)
        yield value


def course(kind, **named):
    """The numbers after each step of an optimiser along ``GRADIENTS``."""
    values = torch.nn.Parameter(torch.tensor(START, dtype=torch.float64))
    steps, found = kind([values], **named), []
    for gradient in GRADIENTS:
        values.grad = torch.tensor(gradient, dtype=torch.float64)
        steps.step()
        found.append(values.tolist())
    return found


def test_steps_are_those_of_the_rule():
    found = course(BertAdam, rate=RATE, beta2=0.999, decay=DECAY)
    by_number = [by_hand(value, column) for value, column in zip(START, zip(*GRADIENTS, strict=True), strict=True)]
    for row, expected in zip(found, zip(*by_number, strict=True), strict=True):
        assert row == pytest.approx(expected, rel=1e-12)


def test_first_steps_are_longer_than_adamw_s_which_corrects_its_means():
    ours = course(BertAdam, rate=RATE, beta2=0.999, decay=DECAY)
    theirs = course(torch.optim.AdamW, lr=RATE, betas=(0.9, 0.999), eps=1e-6, weight_decay=DECAY)
    first = [(one[0] - 0.999 * START[0]) / RATE for one in (ours[0], theirs[0])]  # without the decay
    assert first == pytest.approx([-0.1 / math.sqrt(0.001), -1], rel=1e-4)


def test_what_has_no_gradient_stays_and_all_else_decays():
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.LayerNorm(2), torch.nn.Linear(2, 1))
    for value in [*net[0].parameters(), *net[1].parameters()]:
        torch.nn.init.ones_(value)
        value.grad = torch.zeros_like(value)
    before = [value.detach().clone() for value in net[2].parameters()]
    optimizer(net, OptimisationSettings(learning_rate=0.5, weight_decay=0.01)).step()
    assert all(torch.allclose(value, torch.tensor(0.995)) for part in net[:2] for value in part.parameters())
    assert all(torch.equal(value, old) for value, old in zip(net[2].parameters(), before, strict=True))


class Line(torch.nn.Module):
    """Answers from the number of tokens alone."""

    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(1, 2)

    def forward(self, input_ids, attention_mask, labels):
        logits = self.line(attention_mask.sum(dim=1, keepdim=True).float())
        return {"logits": logits, "loss": torch.nn.functional.cross_entropy(logits, labels)}


@pytest.mark.parametrize("n", [20, 300])
def test_a_model_s_file_gives_lxmert_s_schedule_for_as_many_steps_on_any_number_of_questions(root, tmp_path, n):
    given = read_yaml(root / "config/models/lxmert-p.yaml")["training"]["optimisation"]
    changed = {"most_steps": 40, "evaluations": 2, "workers": 0}
    settings, net, rates = OptimisationSettings(**given | changed), Line(), []

    class Watched(BertAdam):
        def step(self, closure=None):
            rates.append(self.param_groups[0]["lr"])
            return super().step(closure)

    items = [{"tokens": [1] * (number % 3 + 1), "label": number % 2} for number in range(n)]
    watched = Watched(net.parameters(), settings.learning_rate, settings.beta2, settings.weight_decay)
    done = fit(net, items, items[:4], tmp_path, settings, 1, "test", [], collate=collate, optimizer=watched)
    expected = [step / 4 if step < 4 else (40 - step) / 36 for step in range(40)]  # up over a tenth, then down to 0
    assert done["steps"] == 40 and rates == pytest.approx([5e-5 * share for share in expected])
