"""COVR's released net: what the authors' code computes, number by number, and what ours does otherwise."""

import pytest
import torch
from torch.nn import functional

from compvqa.errors import InputError
from compvqa.models import vilbert, visualbert
from compvqa.models.as_released import ReleasedModel
from compvqa.models.multi_image import MultiImageModel
from compvqa.models.task import Task
from compvqa.models.volta import Weights
from compvqa.training.data import word_tokenizer
from unit.models.volta_state import HEADS, POOLED, REGION, VILBERT, VISUALBERT, as_the_authors_do, fine_tuned_state

BOTH = pytest.mark.parametrize(("module", "plan"), [(vilbert, VILBERT), (visualbert, VISUALBERT)])
ANSWERS, REGIONS = 3, 6  # the authors have 36 regions
TEXTS = [[2, 9, 7, 3], [2, 11, 3], [2, 9, 7, 8, 8, 3]]
IMAGES = [2, 5, 1]  # that each question has
SIZE = {"heads": HEADS, "dropout": 0.1, "image_layers": 2, "longest": 16}


def shown():
    """For each question the features and places of its images' regions."""
    torch.manual_seed(3)
    return [(torch.randn(n, REGIONS, REGION), torch.rand(n, REGIONS, 5)) for n in IMAGES]


def batch():
    words = torch.nn.utils.rnn.pad_sequence([torch.tensor(text) for text in TEXTS], batch_first=True)
    features, places = (torch.cat(columns) for columns in zip(*shown(), strict=True))
    return {
        "input_ids": words,
        "attention_mask": (words > 0).long(),
        "features": features,
        "geometry": places,
        "region_mask": torch.ones(len(features), REGIONS, dtype=torch.long),
        "question_of": torch.arange(len(IMAGES)).repeat_interleave(torch.tensor(IMAGES)),
    }


def built(module, state, folder, **changed):
    """The net of ``module`` from a file with the weights ``state``."""
    torch.save(state, folder / "weights.th")
    settings = module.ModelSettings(**SIZE | {"checkpoint": str(folder / "weights.th"), "as_released": True, **changed})
    task = Task(word_tokenizer([]), [f"answer {n}" for n in range(ANSWERS)], REGION, REGIONS)
    return module.build(settings, task).eval()


def loaded(module, state, folder, **changed):
    net = built(module, state, folder, **changed)
    net.take(Weights.read(str(folder / "weights.th")))
    return net


@BOTH
@pytest.mark.parametrize(("images", "n"), [("seen", 5), ("zeroed", 1)])
def test_scores_are_what_the_authors_call_gives(module, plan, images, n, tmp_path):
    state = fine_tuned_state(plan, ANSWERS)
    expected = as_the_authors_do(state, plan, TEXTS, shown(), n)
    assert torch.allclose(loaded(module, state, tmp_path, images=images)(**batch())["logits"], expected, atol=1e-4)
    assert expected.std(dim=0).min() > 0.01  # questions differ


@BOTH
def test_ours_differs_from_it_and_knows_no_image_that_is_not_there(module, plan, tmp_path):
    state, given = fine_tuned_state(plan, ANSWERS), batch()
    ours = built(module, state, tmp_path, as_released=False)
    theirs = loaded(module, state, tmp_path)
    assert type(ours) is MultiImageModel and isinstance(theirs, ReleasedModel)
    assert ours.over_images.layer[0].intermediate.dense.out_features == 2 * POOLED
    for net, alike in ((ours, True), (theirs, False)):
        pooled = net.pooled(**given)
        alone = net.answered(pooled, given["question_of"], 3, None)["logits"]
        assert torch.allclose(net(**given)["logits"], alone, atol=1e-5) is alike


@BOTH
def test_the_images_of_other_questions_and_narrower_ones_change_nothing(module, plan, tmp_path):
    net, given = loaded(module, fine_tuned_state(plan, ANSWERS), tmp_path), batch()
    alone = {name: value[7:, :2] for name, value in given.items() if name in ("features", "geometry", "region_mask")}
    alone |= {name: given[name][2:] for name in ("input_ids", "attention_mask")}
    padded = {name: functional.pad(value, (*[0] * (2 * value.dim() - 3), 3)) for name, value in alone.items()}
    results = [net(**columns, question_of=torch.zeros(1, dtype=torch.long))["logits"] for columns in (alone, padded)]
    assert torch.allclose(*results, atol=1e-5)


@BOTH
def test_what_is_pooled_is_dropped_out_in_training_and_all_that_counts_is_learnt(module, plan, tmp_path):
    net = loaded(module, fine_tuned_state(plan, ANSWERS), tmp_path)
    for part in net.backbone.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    seen = []
    net.over_images.register_forward_pre_hook(lambda module, rows: seen.append(rows[0][:, 1:]))
    still = net(**batch(), labels=torch.tensor([0, 1, 2]))
    net.dropout.train()
    net(**batch())
    kept = seen[1][seen[0] > 0] > 0
    assert 0.8 < kept.float().mean() < 0.97
    assert torch.allclose(seen[1][seen[0] > 0][kept], seen[0][seen[0] > 0][kept] / 0.9)
    still["loss"].backward()
    assert all(value.grad is not None for name, value in net.named_parameters() if not name.startswith("backbone."))


def test_new_layers_start_as_torch_draws_them_with_biases(tmp_path):
    net = built(visualbert, fine_tuned_state(VISUALBERT, ANSWERS), tmp_path)
    dense = net.over_images.layer[0].intermediate.dense
    assert dense.bias.any() and dense.weight.abs().max() <= POOLED**-0.5 and net.cls.std() < 0.2


@BOTH
def test_without_a_file_of_volta_s_it_is_refused(module, plan, tmp_path):
    with pytest.raises(InputError, match="as_released needs a file of VOLTA's, not '': name one"):
        module.Backbone(module.ModelSettings(as_released=True), 9, REGION)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: state.pop("agg_fc.1.output.dense.bias"), "lacks agg_fc.1.output.dense.bias: it is no net"),
        (lambda state: state.update(img_cls_token=torch.ones(4)), r"img_cls_token has the shape \(4,\), not \(20,\)"),
        (lambda state: state.update(fine_tuned_state(VISUALBERT, ANSWERS, 3)), "has agg_fc.2.att.* besides: set image"),
        (lambda state: state.update(fine_tuned_state(VISUALBERT, 4)), r"classifier_layer.weight has .*\(4, 20\), not"),
    ],
)
def test_other_files_are_refused_by_the_weight(change, message, tmp_path):
    state = fine_tuned_state(VISUALBERT, ANSWERS)
    change(state)
    with pytest.raises(InputError, match=message):
        loaded(visualbert, state, tmp_path)
