"""ViLBERT as a backbone: its streams meet in the layers across, and names are anchored by words."""

import torch

from compvqa.models.vilbert import PARTS, Backbone, ModelSettings

SMALL = ModelSettings(hidden_size=16, heads=2, text_layers=1, blocks=2)


def seeded():
    torch.manual_seed(1)
    return Backbone(SMALL, 30, 7).eval()


def test_an_anchored_column_starts_from_its_words():
    backbone = seeded()
    backbone.anchor({2: [9, 11]})
    expected = backbone.text.word_embeddings.weight[[9, 11]].mean(dim=0)
    assert torch.allclose(backbone.image.features.weight[:, 2], expected)


def test_without_the_layers_across_no_stream_knows_of_the_other():
    backbone = seeded()
    torch.manual_seed(0)
    words, ones = torch.randint(5, 30, (1, 6)), torch.ones(1, 6, dtype=torch.long)
    seen = {"features": torch.randn(1, 3, 7), "geometry": torch.rand(1, 3, 5), "region_mask": torch.ones(1, 3)}

    def regions(words):
        return backbone(words, ones, **seen)[1]

    assert not torch.allclose(regions(words), regions(words.flip(1)), atol=1e-4)
    for block in backbone.blocks:
        for part in PARTS[:2]:
            torch.nn.init.zeros_(block[part].attention.output.dense.weight)
    assert torch.equal(regions(words), regions(words.flip(1)))


def test_every_weight_has_a_part_in_what_is_pooled():
    backbone = seeded()
    ones = torch.ones(2, 3, dtype=torch.long)
    pooled, _ = backbone(7 * ones, ones, torch.randn(2, 3, 7), torch.rand(2, 3, 5), ones)
    pooled.sum().backward()
    assert all(value.grad is not None and value.grad.any() for value in backbone.parameters())


def test_few_of_the_products_are_shut_at_first():
    backbone, ones = seeded(), torch.ones(8, 3, dtype=torch.long)
    pooled, _ = backbone(torch.randint(5, 30, (8, 3)), ones, torch.randn(8, 3, 7), torch.rand(8, 3, 5), ones)
    assert (pooled > 0).float().mean() > 0.9
