"""What every backbone promises: blind to padding and to the order of regions, and a part of the models over it."""

import pytest
import torch
from transformers import BertConfig
from transformers.models.bert.modeling_bert import BertAttention, BertLayer

from compvqa.errors import InputError
from compvqa.models import lxmert, vilbert, visualbert
from compvqa.models.backbone import FEW, attention_over, layer_over, released_tokenizer, with_whole
from compvqa.models.multi_image import MultiImageModel

SMALL = {"hidden_size": 16, "heads": 2, "image_layers": 1}
EVERY = pytest.mark.parametrize("module", [lxmert, vilbert, visualbert], ids=lambda module: module.__name__[15:])


def made(module, kind=None, **more):
    """A backbone with random weights, or a model of ``kind`` over it."""
    torch.manual_seed(1)
    settings = module.ModelSettings(**SMALL, **more)
    backbone = module.Backbone(settings, 30, 7)
    return (kind(backbone, settings, 3) if kind else backbone).eval()


@EVERY
def test_padding_changes_nothing(module, batch):
    backbone = made(module)
    pooled, regions = backbone(**batch)
    assert pooled.shape == (2, backbone.hidden_size) and regions.shape == (2, 4, backbone.region_size)
    alone = {name: value[1:, :2] for name, value in batch.items()}
    alone |= {name: batch[name][1:, :4] for name in ("input_ids", "attention_mask")}
    own_pooled, own_regions = backbone(**alone)
    assert torch.allclose(own_pooled, pooled[1:], atol=1e-5)
    assert torch.allclose(own_regions, regions[1:, :2], atol=1e-5)


@EVERY
def test_what_lies_in_the_padding_changes_nothing(module, batch):
    backbone = made(module)
    hidden = 1 - batch["region_mask"]
    other = batch | {"features": batch["features"] + 9 * hidden[..., None]}
    other["input_ids"] = batch["input_ids"] + 3 * (1 - batch["attention_mask"])
    assert torch.allclose(backbone(**other)[0], backbone(**batch)[0], atol=1e-5)


@EVERY
def test_the_order_of_regions_does_not_matter(module, batch):
    backbone = made(module)
    turned = batch | {name: batch[name].flip(1) for name in ("features", "geometry", "region_mask")}
    assert torch.allclose(backbone(**turned)[0], backbone(**batch)[0], atol=1e-5)


@EVERY
def test_narrow_features_are_widened(module, batch):
    backbone = made(module)
    narrow = batch | {"features": batch["features"].half()}
    wide = batch | {"features": narrow["features"].float()}
    for own, expected in zip(backbone(**narrow), backbone(**wide), strict=True):
        assert own.dtype == torch.float32 and torch.equal(own, expected)


@EVERY
def test_words_places_and_features_all_count(module, batch):
    backbone = made(module)
    for name, axis in (("features", 2), ("geometry", 2), ("input_ids", 1)):
        changed = batch | {name: batch[name].flip(axis), "attention_mask": torch.ones_like(batch["attention_mask"])}
        same = batch | {"attention_mask": changed["attention_mask"]}
        assert not torch.allclose(backbone(**changed)[0], backbone(**same)[0], atol=1e-4), name


@EVERY
def test_a_question_model_sees_neither_images_nor_their_number_where_these_are_zeroed(module, batch):
    given = batch | {"question_of": torch.tensor([0, 1])}
    other = given | {"features": given["features"] + 1}
    images = ("features", "geometry", "region_mask")
    more = (
        given | {name: batch[name][[0, 1, 1, 0, 1]] for name in images} | {"question_of": torch.tensor([0, 0, 0, 0, 1])}
    )
    blind, seeing = (made(module, MultiImageModel, images=images) for images in ("zeroed", "seen"))
    for changed in (other, more):
        assert torch.equal(blind(**changed)["logits"], blind(**given)["logits"])
        assert not torch.allclose(seeing(**changed)["logits"], seeing(**given)["logits"])
    assert f"backbone.{module.Backbone.word_embedding}" in seeing.state_dict()


@EVERY
def test_released_weights_bring_a_tokenizer_and_others_none(module):
    assert module.tokenizer(module.ModelSettings()) is None
    with pytest.raises(InputError, match="can't be loaded"):
        released_tokenizer("./no-such-folder")


def test_a_layer_over_others_is_a_layer_of_bert_and_its_attention_across():
    torch.manual_seed(0)
    config = BertConfig(hidden_size=16, num_attention_heads=2, intermediate_size=8, attn_implementation="sdpa")
    layer, across = BertLayer(config).eval(), BertAttention(config, is_cross_attention=True).eval()
    across.load_state_dict(layer.attention.state_dict())
    asking, seen = torch.randn(3, 5, 16), torch.randn(3, 4, 16)
    mask = torch.tensor([4, 2, 1])[:, None, None, None] > torch.arange(4)
    attended = across(asking, encoder_hidden_states=seen, encoder_attention_mask=mask)[0]
    expected = layer.output(layer.intermediate(attended), attended)
    assert torch.allclose(layer_over(layer, asking, seen, mask), expected, atol=1e-6)
    assert torch.allclose(layer_over(layer, seen, seen, mask), layer(seen, mask), atol=1e-6)


@pytest.mark.parametrize("asked", range(1, FEW + 2))
def test_what_few_tokens_take_from_a_layer_is_what_they_take_among_all(asked):
    torch.manual_seed(0)
    config = BertConfig(hidden_size=16, num_attention_heads=2, intermediate_size=8, attn_implementation="sdpa")
    layer, seen = BertLayer(config).eval(), torch.randn(3, 5, 16, requires_grad=True)
    for part in layer.parameters():  # biases too
        torch.nn.init.normal_(part, std=0.3)
    mask = torch.tensor([5, 3, 1])[:, None, None, None] > torch.arange(5)
    gradients = []
    for outcome in (layer_over(layer, seen[:, :asked], seen, mask), layer(seen, mask)[:, :asked]):
        gradients.append(torch.autograd.grad(outcome.square().sum(), [seen, *layer.parameters()]))
        gradients[-1] += (outcome,)
    for ours, theirs in zip(*gradients, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-4)
    layer.attention.self.dropout = torch.nn.Dropout(1.0).train()
    nothing = layer.attention.output(torch.zeros(3, FEW, 16), seen[:, :FEW])
    taken = attention_over(layer.attention.self.train(), layer.attention.output, seen[:, :FEW], seen, mask)
    assert torch.allclose(taken, nothing, atol=1e-6)


def test_the_whole_image_is_the_mean_of_its_real_regions(batch):
    features, geometry, mask = with_whole(batch["features"], batch["geometry"], batch["region_mask"])
    assert torch.allclose(features[1, 0], batch["features"][1, :2].mean(dim=0))
    assert geometry[:, 0].tolist() == [[0, 0, 1, 1, 1]] * 2 and mask[:, 0].tolist() == [1, 1]
    assert torch.equal(features[:, 1:], batch["features"]) and torch.equal(mask[:, 1:], batch["region_mask"])
