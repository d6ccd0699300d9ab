"""Words and regions that every backbone reads."""

import pytest
import torch


@pytest.fixture
def batch():
    """Two texts of 6 and 4 words, two images of 4 and 2 regions; the rest is padding."""
    torch.manual_seed(0)
    words = (torch.arange(6) < torch.tensor([[6], [4]])).long()
    regions = (torch.arange(4) < torch.tensor([[4], [2]])).long()
    return {
        "input_ids": torch.randint(5, 30, (2, 6)) * words,
        "attention_mask": words,
        "features": torch.randn(2, 4, 7) * regions[..., None],
        "geometry": torch.rand(2, 4, 5) * regions[..., None],
        "region_mask": regions,
    }
