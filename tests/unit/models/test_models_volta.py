"""VOLTA's files: every number goes where VOLTA itself computes with it, and other files are refused."""

import pytest
import torch
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from compvqa.errors import InputError
from compvqa.models import vilbert, visualbert
from unit.models.volta_state import HIDDEN, POOLED, REGION, VILBERT, VISUALBERT, by_hand, made_state

BOTH = pytest.mark.parametrize(("module", "plan"), [(vilbert, VILBERT), (visualbert, VISUALBERT)])


def backbone(module, state, folder, feature_dim=REGION):
    torch.save(state, folder / "pytorch_model.bin")
    return module.Backbone(module.ModelSettings(checkpoint=str(folder / "pytorch_model.bin")), 0, feature_dim).eval()


@BOTH
def test_outputs_are_what_volta_computes(module, plan, tmp_path):
    state = made_state(plan)
    heads = {"cls.bi_seq_relationship.weight": torch.ones(2, POOLED), "cls.bi_seq_relationship.bias": torch.ones(2)}
    with pytest.warns(UserWarning, match=r"2 weights, of cls, are not used, cls.bi_seq_relationship.weight first"):
        read = backbone(module, state | heads, tmp_path)
    words, features, places = torch.tensor([2, 9, 7, 3]), torch.randn(3, REGION), torch.rand(3, 5)
    ones = [torch.ones(1, n, dtype=torch.long) for n in (4, 3)]
    pooled, regions = read(words[None], ones[0], features[None], places[None], ones[1])
    expected = by_hand(state, plan, words, features, places)
    assert 0 < (expected > 0).sum() < POOLED
    assert torch.allclose(pooled[0], expected, atol=1e-4)
    assert pooled.shape == (1, read.hidden_size) == (1, POOLED) and regions.shape == (1, 3, read.region_size)


@BOTH
def test_padding_changes_nothing_in_released_weights(module, plan, tmp_path):
    read = backbone(module, made_state(plan), tmp_path)
    words, features, places = torch.tensor([[2, 9, 7, 3]]), torch.randn(1, 3, REGION), torch.rand(1, 3, 5)
    masks = [torch.tensor([[1, 1, 1, 0]]), torch.tensor([[1, 1, 0]])]
    pooled = read(words, masks[0], features, places, masks[1])[0]
    alone = read(words[:, :3], masks[0][:, :3], features[:, :2], places[:, :2], masks[1][:, :2])[0]
    assert torch.allclose(pooled, alone, atol=1e-5)


@BOTH
def test_a_file_that_lacks_a_weight_is_refused_by_its_name(module, plan, tmp_path):
    state = made_state(plan)
    for name in ("dense", "v_dense"):
        state.pop(f"bert.encoder.layer.3.output.{name}.bias", None)
    with pytest.raises(InputError, match=r"lacks 1 weights, bert.encoder.layer.3.output.dense.bias first"):
        backbone(module, state, tmp_path)


@BOTH
def test_a_weight_of_another_shape_is_refused(module, plan, tmp_path):
    state = made_state(plan) | {"bert.v_pooler.dense.weight": torch.zeros(POOLED + 1, HIDDEN)}
    with pytest.raises(InputError, match=r"pooler.image.weight has the shape \(21, 128\), not \(20, 128\)"):
        backbone(module, state, tmp_path)


@BOTH
def test_features_of_another_length_are_refused(module, plan, tmp_path):
    with pytest.raises(InputError, match="takes features of length 7, not 9"):
        backbone(module, made_state(plan), tmp_path, 9)


@BOTH
def test_a_file_of_the_other_model_is_refused(module, plan, tmp_path):
    other = VISUALBERT if plan is VILBERT else VILBERT
    with pytest.raises(InputError, match=r"lacks bert\.(v_)?embeddings.*choose another"):
        backbone(module, made_state(other), tmp_path)


def test_streams_that_should_share_their_weights_and_do_not_are_refused(tmp_path):
    state = made_state(VISUALBERT)
    state["bert.encoder.layer.2.attention_self.v_key.bias"] = torch.zeros(HIDDEN)
    with pytest.raises(InputError, match=r"layer.2.attention_self.v_key.bias differs from the text's"):
        backbone(visualbert, state, tmp_path)


@pytest.mark.parametrize(
    ("content", "message"), [(b"no weights", "can't be read"), ({"a": torch.ones(1)}, "holds no weights named bert")]
)
def test_a_file_of_something_else_is_refused(content, message, tmp_path):
    path = tmp_path / "pytorch_model.bin"
    path.write_bytes(content) if isinstance(content, bytes) else torch.save(content, path)
    for module in (vilbert, visualbert):
        with pytest.raises(InputError, match=message):
            module.Backbone(module.ModelSettings(checkpoint=str(path)), 0, REGION)


def test_the_tokenizer_of_released_weights_is_named_apart(tmp_path):
    known = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "dog": 4, "##s": 5}
    words = Tokenizer(models.WordPiece(known, unk_token="[UNK]"))
    PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(tmp_path)
    for module in (vilbert, visualbert):
        found = module.tokenizer(module.ModelSettings(checkpoint="weights.bin", words=str(tmp_path)))
        assert found.encode("dogs", add_special_tokens=False).ids == [4, 5]
