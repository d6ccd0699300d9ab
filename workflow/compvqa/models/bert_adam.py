"""BERT's Adam, by which LXMERT was trained (Tan and Bansal, 2019): no bias correction, and a decay beside the gradient.

AdamW divides its running means by what they still lack after few steps; here they start from 0 and stay what they are,
so that the first steps are up to three times as long (``(1 - 0.9) / (1 - 0.999) ** 0.5``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from compvqa.models.task import Steps

EPSILON = 1e-6


class BertAdam(torch.optim.Optimizer):
    """Adam without bias correction, whose weights all decay by ``rate * decay`` a step, biases and norms too.

    The rate of each group is that of the step, as the schedule sets it. A parameter that has no gradient stays.
    """

    def __init__(self, params: Iterable[torch.Tensor], rate: float, beta2: float, decay: float):
        super().__init__(params, {"lr": rate, "betas": (0.9, beta2), "eps": EPSILON, "weight_decay": decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """One step down the gradients; gives the loss of ``closure``, if there is one."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for value in group["params"]:
                if value.grad is None:
                    continue
                state = self.state[value]
                if not state:
                    state |= {"mean": torch.zeros_like(value), "square": torch.zeros_like(value)}
                mean = state["mean"].mul_(beta1).add_(value.grad, alpha=1 - beta1)
                square = state["square"].mul_(beta2).addcmul_(value.grad, value.grad, value=1 - beta2)
                change = (mean / square.sqrt().add_(group["eps"])).add_(value, alpha=group["weight_decay"])
                value.sub_(change, alpha=group["lr"])
        return loss


def optimizer(net: torch.nn.Module, settings: Steps) -> BertAdam:
    """This Adam over all that learns in ``net``."""
    learnt = [value for value in net.parameters() if value.requires_grad]
    return BertAdam(learnt, settings.learning_rate, settings.beta2, settings.weight_decay)
