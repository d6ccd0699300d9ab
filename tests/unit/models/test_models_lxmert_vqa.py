"""LXMERT's answers about one picture: what transformers computes, a loss of each class for itself, and a start from the
rows of the answers that a released head knows."""

import json
import math

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import LxmertConfig, LxmertForQuestionAnswering, LxmertModel, PreTrainedTokenizerFast

from compvqa.errors import InputError
from compvqa.files import read_yaml
from compvqa.models import lxmert_vqa
from compvqa.models.lxmert_vqa import LxmertVqa, ModelSettings
from compvqa.models.task import Task
from compvqa.training.data import word_tokenizer

SMALL = {"hidden_size": 16, "heads": 2, "cross_layers": 1}
ANSWERS = ["cube", "no", "yes"]
KNOWN = ["maybe", "yes", "no", "red"]
WORDS = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "dog": 4}


def made(**settings):
    """A net over 30 words and regions of 7 numbers."""
    torch.manual_seed(1)
    task = Task(word_tokenizer([" ".join(f"w{n}" for n in range(23))]), ANSWERS, 7)
    return lxmert_vqa.build(ModelSettings(**settings), task).eval()


@pytest.fixture
def given(batch):
    return batch | {"question_of": torch.arange(2)}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A checkpoint with a head for ``KNOWN``, its tokenizer, and the list of its answers, as LXMERT's are laid out."""
    folder = tmp_path_factory.mktemp("released")
    config = LxmertConfig(
        vocab_size=30, hidden_size=16, num_attention_heads=2, intermediate_size=16, visual_feat_dim=7, num_qa_labels=4,
        l_layers=1, r_layers=1, x_layers=2,
    )  # fmt: skip
    torch.manual_seed(2)
    net = LxmertForQuestionAnswering(config)
    for value in net.answer_head.parameters():
        torch.nn.init.normal_(value)
    net.save_pretrained(folder)
    tokenizer = Tokenizer(models.WordPiece(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.add_special_tokens(list(WORDS)[:4])
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]").save_pretrained(folder)
    (folder / "all_ans.json").write_text(json.dumps([{"ans": answer, "dsets": ["vqa"]} for answer in KNOWN]))
    return folder


def started(released, **changes):
    named = {"checkpoint": str(released), "answers": str(released / "all_ans.json")}
    return made(**named | changes)


@pytest.mark.parametrize("start", ["random", "released"])
def test_scores_are_those_of_transformers_with_the_same_weights(start, given, released):
    net = made(**SMALL, language_layers=2) if start == "random" else started(released)
    theirs = net.backbone.lxmert(
        input_ids=given["input_ids"],
        attention_mask=given["attention_mask"],
        visual_feats=given["features"],
        visual_pos=given["geometry"][..., :4],
        visual_attention_mask=given["region_mask"],
    )
    first, _, norm, last = net.head.logit_fc
    hidden = torch.nn.functional.gelu(first(theirs.pooled_output))
    expected = last(torch.nn.functional.layer_norm(hidden, hidden.shape[1:], norm.weight, norm.bias, 1e-12))
    assert hidden.shape[1] == 2 * 16 and expected.shape == (2, 3 + 4)
    assert torch.allclose(net(**given)["logits"], expected[:, :3], atol=1e-5)


def test_the_loss_tells_each_class_from_all_others_unused_ones_too(given):
    net = made(**SMALL, initializer_range=0.5)
    with torch.no_grad():
        scores = net.head(net.backbone(**{name: given[name] for name in given if name != "question_of"})[0]).tolist()
    labels, lost = [2, 0], 0.0
    for row, label in zip(scores, labels, strict=True):
        for number, score in enumerate(row):
            p = 1 / (1 + math.exp(-score))
            lost -= math.log(p if number == label else 1 - p)
    of_all = lost / (2 * 7)  # the mean over examples and classes, which LXMERT takes times the number of classes
    assert net(**given, labels=torch.tensor(labels))["loss"].item() == pytest.approx(7 * of_all, rel=1e-5)


def test_an_unused_class_is_never_given_for_an_answer(given):
    net = made(**SMALL, unused=2)
    with torch.no_grad():
        net.head.logit_fc[-1].bias[3:] += 100
    assert net(**given)["logits"].shape == (2, 3)
    assert net(**given, labels=torch.tensor([0, 1]))["loss"] > 150


def test_neither_regions_nor_places_nor_their_number_tell_anything_where_pictures_are_zeroed(given):
    net, blind = made(**SMALL, initializer_range=0.5), made(**SMALL, initializer_range=0.5, images="zeroed")
    moved = given | {"geometry": given["geometry"].flip(0)}
    fewer = given | {name: given[name][:, :2] for name in ("features", "geometry", "region_mask")}
    for other in (moved, fewer):
        assert not torch.allclose(net(**other)["logits"], net(**given)["logits"], atol=1e-3)
        assert torch.equal(blind(**other)["logits"], blind(**given)["logits"])


def test_at_the_paper_s_size_it_has_the_paper_s_209_million_numbers(root):
    settings = ModelSettings(**read_yaml(root / "config/models/lxmert-s.yaml")["settings"])
    with torch.device("meta"):
        net = LxmertVqa(settings, 30522, 2048, 28)
    assert sum(value.numel() for value in net.parameters()) == 209_170_208
    assert net.head.logit_fc[-1].out_features == 32


def test_without_a_checkpoint_all_weights_are_drawn_from_one_distribution():
    net = made(hidden_size=128, cross_layers=1)
    drawn = torch.cat([value.flatten() for name, value in net.named_parameters() if value.ndim == 2])
    assert drawn.std().item() == pytest.approx(0.02, rel=0.01) and abs(drawn.mean().item()) < 1e-4
    constant = {name: value for name, value in net.named_parameters() if value.ndim == 1}
    assert all((value == ("norm" in name.lower() and name.endswith("weight"))).all() for name, value in constant.items()
               if not name.startswith("head.logit_fc.2"))  # fmt: skip
    assert {value.item() for value in constant["head.logit_fc.2.weight"]} == {1.0}


def test_answers_that_the_checkpoint_knows_start_from_its_rows_and_others_from_zeros(released):
    net = started(released)
    theirs = LxmertForQuestionAnswering.from_pretrained(released)
    known, ours = theirs.answer_head.logit_fc, net.head.logit_fc
    for row, answer in enumerate([*ANSWERS, None, None, None, None]):
        for name in ("weight", "bias"):
            found, all_of_theirs = getattr(ours[3], name)[row], getattr(known[3], name)
            wanted = all_of_theirs[KNOWN.index(answer)] if answer in KNOWN else torch.zeros_like(all_of_theirs[0])
            assert torch.equal(found, wanted)
    for layer in (0, 2):
        assert all(torch.equal(a, b) for a, b in zip(ours[layer].parameters(), known[layer].parameters(), strict=True))
    backbone = net.backbone.lxmert.state_dict()
    assert all(torch.equal(backbone[name], value) for name, value in theirs.lxmert.state_dict().items())


def test_a_head_that_is_not_there_or_has_other_answers_is_refused(released, tmp_path):
    LxmertModel(LxmertModel.from_pretrained(released).config).save_pretrained(tmp_path / "none")
    with pytest.raises(InputError, match=r"the weights .*none have no answer_head\.logit_fc\.0\.bias: take some"):
        started(released, checkpoint=str(tmp_path / "none"))
    for text, words in (
        ('[{"ans": "yes"}]', r"other.json has 1 answers, and the head of .* has 4: name the list"),
        ('["yes"]', "other.json is no list of answers, each as"),
    ):
        (tmp_path / "other.json").write_text(text)
        with pytest.raises(InputError, match=words):
            started(released, answers=str(tmp_path / "other.json"))
    with pytest.raises(ValueError, match="checkpoint and answers belong together"):
        ModelSettings(checkpoint="a")


def test_a_long_text_is_cut_before_its_end(released):
    assert lxmert_vqa.tokenizer(ModelSettings()) is None
    for named in ({"words": str(released)}, {"checkpoint": str(released), "answers": "a"}):
        cut = lxmert_vqa.tokenizer(ModelSettings(**named, longest=8))
        assert Tokenizer.from_str(cut.to_str()).encode("dog " * 20).ids == [2, *6 * [4], 3]
