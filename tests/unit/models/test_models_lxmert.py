"""LXMERT as a backbone: anchored by words, and with released weights and their tokenizer."""

import pytest
import torch
from tokenizers import Tokenizer, models
from transformers import LxmertConfig, LxmertModel, PreTrainedTokenizerFast

from compvqa.errors import InputError
from compvqa.models import lxmert
from compvqa.models.backbone import waves
from compvqa.models.lxmert import Backbone, ModelSettings
from compvqa.models.multi_image import MatchModel

SMALL = ModelSettings(hidden_size=16, heads=2, image_layers=1)


def seeded(make, *args):
    torch.manual_seed(1)
    return make(*args).eval()


def test_an_anchored_column_starts_from_its_words():
    backbone = seeded(Backbone, SMALL, 30, 7)
    backbone.anchor({2: [9, 11]})
    words = backbone.lxmert.embeddings.word_embeddings.weight
    expected = words[[9, 11]].mean(dim=0)
    assert torch.allclose(backbone.lxmert.encoder.visn_fc.visn_fc.weight[:, 2], expected)


def test_pooled_is_what_transformers_computes(batch):
    backbone = seeded(Backbone, SMALL, 30, 7)
    place = torch.cat([batch["geometry"], *waves(batch["geometry"])], dim=2)
    theirs = backbone.lxmert(
        input_ids=batch["input_ids"],
        attention_mask=batch["attention_mask"],
        visual_feats=batch["features"],
        visual_pos=place,
        visual_attention_mask=batch["region_mask"],
        output_hidden_states=True,
    )
    pooled, regions = backbone(**batch)
    assert torch.allclose(pooled, theirs.pooled_output, atol=1e-6)
    assert torch.allclose(regions, theirs.vision_hidden_states[-2], atol=1e-6)


def test_an_image_without_regions_is_one_with_a_region_of_zeros(batch):
    backbone = seeded(Backbone, SMALL, 30, 7)
    none = batch | {name: batch[name] * 0 for name in ("features", "geometry", "region_mask")}
    zeros = {name: none[name][:, :1] for name in ("features", "geometry")} | {"region_mask": torch.ones(2, 1)}
    assert torch.allclose(backbone(**none)[0], backbone(**none | zeros)[0], atol=1e-6)


def test_regions_are_zeroed_in_training_alone(batch):
    match = seeded(MatchModel, Backbone(SMALL, 30, 7), SMALL, 2, 0.5)
    given = batch | {"question_of": torch.arange(2)}
    whole = match(**given)["logits"]
    assert torch.equal(match(**given)["logits"], whole)
    assert not torch.allclose(match.train()(**given)["logits"], whole)


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A folder of weights and a tokenizer, as the released ones are laid out."""
    folder = tmp_path_factory.mktemp("released")
    config = LxmertConfig(
        vocab_size=6, hidden_size=16, num_attention_heads=2, intermediate_size=16, visual_feat_dim=7,
        l_layers=1, r_layers=1, x_layers=1,
    )  # fmt: skip
    torch.manual_seed(2)
    LxmertModel(config).save_pretrained(folder)
    words = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "dog": 4, "##s": 5}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordPiece(words, unk_token="[UNK]")), pad_token="[PAD]", unk_token="[UNK]"
    )
    tokenizer.save_pretrained(folder)
    return folder


def test_released_weights_and_their_tokenizer_are_taken(released, batch):
    settings = ModelSettings(checkpoint=str(released))
    backbone = Backbone(settings, 0, 7).eval()
    expected = LxmertModel.from_pretrained(released).state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in backbone.lxmert.state_dict().items())
    assert backbone.hidden_size == 16
    given = batch | {"input_ids": batch["input_ids"] % 6}
    theirs = LxmertModel.from_pretrained(released).eval()(
        input_ids=given["input_ids"],
        attention_mask=given["attention_mask"],
        visual_feats=given["features"],
        visual_pos=given["geometry"][..., :4],
        visual_attention_mask=given["region_mask"],
    )
    assert torch.allclose(backbone(**given)[0], theirs.pooled_output, atol=1e-6)
    assert lxmert.tokenizer(settings).encode("dogs", add_special_tokens=False).ids == [4, 5]
    assert lxmert.tokenizer(ModelSettings()) is None


def test_released_weights_refuse_other_features_and_other_folders(released, tmp_path):
    with pytest.raises(InputError, match="takes features of length 7, not 9"):
        Backbone(ModelSettings(checkpoint=str(released)), 0, 9)
    with pytest.raises(InputError, match="can't be loaded"):
        Backbone(ModelSettings(checkpoint=str(tmp_path / "none")), 0, 7)
