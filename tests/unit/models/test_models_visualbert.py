"""The multi-image model: equal to transformers' VisualBERT, blind to padding, and blind as VBText."""

import pytest
import torch
from transformers import VisualBertConfig, VisualBertModel

from compvqa.errors import InputError
from compvqa.models.backbone import waves
from compvqa.models.multi_image import MatchModel, MultiImageModel, WhichModel, load_pretrained
from compvqa.models.visualbert import Backbone, ModelSettings

SMALL = {"hidden_size": 16, "layers": 2, "heads": 2}


@pytest.fixture
def batch():
    torch.manual_seed(0)
    question_of = torch.tensor([0, 0, 1, 1, 1])
    words = (torch.arange(6) < torch.tensor([[6], [4]])).long()
    regions = (torch.arange(4) < torch.tensor([[4], [2], [3], [1], [4]])).long()
    return {
        "input_ids": torch.randint(5, 30, (2, 6)) * words,
        "attention_mask": words,
        "features": torch.randn(5, 4, 7) * regions[..., None],
        "geometry": torch.rand(5, 4, 5) * regions[..., None],
        "region_mask": regions,
        "question_of": question_of,
    }


def model(**more):
    torch.manual_seed(1)
    settings = ModelSettings(**SMALL, **more)
    return MultiImageModel(Backbone(settings, 30, 7), settings, 4).eval()


def test_the_backbone_computes_what_transformers_computes(batch):
    torch.manual_seed(1)
    backbone = Backbone(ModelSettings(**SMALL), 30, 7).eval()
    whose = batch["question_of"]
    words, mask = batch["input_ids"][whose], batch["attention_mask"][whose]
    own, regions = backbone(words, mask, batch["features"], batch["geometry"], batch["region_mask"])
    seen = torch.cat([batch["features"], batch["geometry"], *waves(batch["geometry"])], dim=2)
    theirs = backbone.bert(
        input_ids=words,
        attention_mask=mask,
        visual_embeds=seen,
        visual_attention_mask=batch["region_mask"],
        output_hidden_states=True,
    )
    assert torch.allclose(own, theirs.pooler_output, atol=1e-5)
    assert torch.allclose(regions, theirs.hidden_states[-2][:, words.shape[1] :], atol=1e-5)


def test_padding_changes_nothing(batch):
    made = model()
    whole = made(**batch)["logits"]
    alone = {name: value[2:] for name, value in batch.items() if name in ("features", "geometry", "region_mask")}
    alone |= {name: batch[name][1:, :4] for name in ("input_ids", "attention_mask")}
    alone["question_of"] = torch.zeros(3, dtype=torch.long)
    assert torch.allclose(made(**alone)["logits"], whole[1:], atol=1e-5)


def test_the_order_of_images_does_not_matter(batch):
    made = model()
    turned = dict(batch)
    for name in ("features", "geometry", "region_mask"):
        turned[name] = batch[name][[1, 0, 4, 3, 2]]
    assert torch.allclose(made(**turned)["logits"], made(**batch)["logits"], atol=1e-5)


def test_zeroed_images_are_not_seen(batch):
    blind, seeing = model(images="zeroed"), model()
    other = batch | {"features": batch["features"] + 1}
    assert torch.equal(blind(**other)["logits"], blind(**batch)["logits"])
    assert not torch.allclose(seeing(**other)["logits"], seeing(**batch)["logits"])


def test_which_images_a_text_is_true_of_is_a_second_part_of_the_loss(batch):
    torch.manual_seed(1)
    settings = ModelSettings(**SMALL)
    made = WhichModel(Backbone(settings, 30, 7), settings, 4).eval()
    seen = []
    made.image_head.register_forward_hook(lambda module, inputs, outputs: seen.append(outputs[:, 0]))
    labels, present = torch.tensor([3, 1]), torch.tensor([1.0, 0.0, 0.0, 1.0, 0.0])
    both, one = (made(**batch, labels=labels, **more)["loss"] for more in ({"present": present}, {}))
    p = seen[0].sigmoid()
    assert p.shape == (5,) and torch.isclose(both - one, -torch.log(torch.where(present > 0, p, 1 - p)).mean())
    turned = {name: value[[1, 0, 4, 3, 2]] if len(value) == 5 else value for name, value in batch.items()}
    made(**(turned | {"question_of": batch["question_of"]}), labels=labels, present=present)
    assert torch.allclose(seen[1], seen[0][[1, 0, 4, 3, 2]], atol=1e-5)  # each head's answer is of its own image


def test_a_pretrained_model_moves_to_another_vocabulary_and_other_answers():
    torch.manual_seed(2)
    start = MultiImageModel(Backbone(ModelSettings(**SMALL), 20, 7), ModelSettings(**SMALL), 3)
    made = model()
    answers = made.classifier.weight.clone()
    load_pretrained(made, start.state_dict(), {number: number % 20 for number in range(30)})
    old = start.backbone.bert.embeddings.word_embeddings.weight
    new = made.backbone.bert.embeddings.word_embeddings.weight
    assert torch.equal(new[20:], old[:10]) and torch.equal(new[:20], old)
    assert torch.equal(made.cls, start.cls) and torch.equal(made.classifier.weight, answers)


def test_the_loss_of_a_match_counts_the_regions_that_are_known(batch):
    torch.manual_seed(2)
    match = MatchModel(Backbone(ModelSettings(**SMALL), 30, 7), ModelSettings(**SMALL), 5)
    alone = {name: batch[name] for name in ("features", "geometry", "region_mask")}
    alone |= {"input_ids": batch["input_ids"][:1], "attention_mask": batch["attention_mask"][:1]}
    alone |= {"question_of": torch.zeros(5, dtype=torch.long), "labels": torch.zeros(5, dtype=torch.long)}
    unknown = torch.full(batch["region_mask"].shape, -1.0)
    told = unknown.clone()
    told[0, 0] = 1
    plain = match(**alone)["loss"]
    assert match(**alone, named=unknown)["loss"] == plain
    assert match(**alone, named=told)["loss"] > plain


def test_an_anchored_column_starts_from_its_words():
    backbone = Backbone(ModelSettings(**SMALL), 30, 7)
    backbone.anchor({2: [9, 11]})
    parts = backbone.bert.embeddings
    expected = parts.word_embeddings.weight[[9, 11]].mean(dim=0)
    assert torch.allclose(parts.visual_projection.weight[:, 2], expected)


def test_a_released_checkpoint_is_taken_and_sees_no_places(batch, tmp_path):
    config = VisualBertConfig(
        vocab_size=30, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=8,
        visual_embedding_dim=7,
    )  # fmt: skip
    torch.manual_seed(3)
    theirs = VisualBertModel(config).eval()
    theirs.save_pretrained(tmp_path)
    settings = ModelSettings(checkpoint=str(tmp_path))
    backbone = Backbone(settings, 0, 7).eval()
    alone = {name: batch[name][:2] for name in ("input_ids", "attention_mask", "features", "geometry", "region_mask")}
    expected = theirs(
        input_ids=alone["input_ids"],
        attention_mask=alone["attention_mask"],
        visual_embeds=alone["features"],
        visual_attention_mask=alone["region_mask"],
    ).pooler_output
    assert torch.allclose(backbone(**alone)[0], expected, atol=1e-6)
    with pytest.raises(InputError, match="takes features of length 7, not 9"):
        Backbone(settings, 0, 9)
    with pytest.raises(InputError, match="can't be loaded"):
        Backbone(ModelSettings(checkpoint=str(tmp_path / "none")), 0, 7)
