"""Words as tokens, and batches."""

from itertools import groupby

import numpy as np
import pytest
import torch

from compvqa import tables
from compvqa.errors import InputError
from compvqa.features.store import ImageRegions, Regions, RegionStore, write
from compvqa.models import visualbert
from compvqa.models.multi_image import MatchModel, MultiImageModel
from compvqa.questions.tables import PARAPHRASES
from compvqa.splits.splitters import SPLITS
from compvqa.training import data
from compvqa.training.data import (
    ByPicture,
    Questions,
    collate,
    examples,
    labelled,
    paraphrased,
    shared_words,
    word_tokenizer,
)
from fixtures.split_rows import split_rows


def test_a_regular_plural_shares_the_token_of_its_singular():
    tokenizer = word_tokenizer(["a red cat", "two cats", "a dress"])
    assert tokenizer.encode("cats").tokens == ["[CLS]", "cat", "##s", "[SEP]"]
    assert tokenizer.encode("Dress").tokens == ["[CLS]", "dress", "[SEP]"]
    assert tokenizer.encode("zebra").tokens == ["[CLS]", "[UNK]", "[SEP]"]


def test_new_words_come_after_the_old_and_start_from_the_unknown():
    base = word_tokenizer(["a red cat"])
    wider = word_tokenizer(["how many cats ?"], base)
    old, new = base.get_vocab(), wider.get_vocab()
    assert all(new[word] == number for word, number in old.items())
    words = shared_words(wider, base)
    assert words[new["cat"]] == old["cat"] and words[new["many"]] == old["[UNK]"]


def test_a_batch_pads_words_and_regions_but_no_images():
    def regions(k):
        return Regions(np.ones((k, 3), np.float32), np.ones((k, 5), np.float32))

    items = [
        {"tokens": [2, 7, 3], "regions": [regions(2), regions(1)], "label": 1},
        {"tokens": [2, 3], "regions": [regions(4)], "label": -100},
    ]
    batch = collate(items)
    assert batch["question_of"].tolist() == [0, 0, 1]
    assert batch["region_mask"].sum(dim=1).tolist() == [2, 1, 4]
    assert batch["features"].sum(dim=(1, 2)).tolist() == [6, 3, 12]
    assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 1, 0]]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_batch_keeps_the_precision_of_the_store_and_models_take_either(dtype):
    draw = np.random.default_rng(0)
    shown = [Regions(draw.normal(size=(k, 3)).astype(dtype), draw.random((k, 5), np.float32)) for k in (2, 4, 1)]
    items = [{"tokens": [2, 7, 3], "regions": [region], "label": 1} for region in shown]
    batch = collate(items)
    assert batch["features"].dtype == getattr(torch, dtype)
    for region, row in zip(shown, batch["features"].numpy(), strict=True):
        assert np.array_equal(row[: len(region.features)], region.features) and not row[len(region.features) :].any()
    torch.manual_seed(0)
    size = visualbert.ModelSettings(hidden_size=16, layers=1, heads=2, image_layers=1)
    widened = batch | {"features": batch["features"].float()}
    for kind in (MultiImageModel, MatchModel):
        model = kind(visualbert.Backbone(size, 9, 3), size, 2).eval()
        assert torch.equal(model(**batch)["logits"], model(**widened)["logits"])


def test_questions_about_one_picture_lie_side_by_side_and_a_batch_has_it_once(tmp_path):
    draw = np.random.default_rng(0)
    images = [ImageRegions(f"s:{n}", np.ones((2, 4)), (9.0, 9.0), draw.normal(size=(2, 3))) for n in range(7)]
    write(tmp_path / "r.parquet", tmp_path / "f.safetensors", images, 3, 14)
    store, shown = RegionStore(tmp_path / "r.parquet", tmp_path / "f.safetensors"), [[f"s:{n % 7}"] for n in range(30)]
    words = [f"word{n}" for n in range(30)]
    asked = examples(words, shown, list(range(30)), word_tokenizer(words), store, 9)
    drawn, orders = ByPicture(asked, 5), []
    for epoch in (0, 1):
        drawn.set_epoch(epoch)
        items = [drawn[number] for number in range(len(drawn))]
        of = [item["label"] % 7 for item in items]
        assert sorted(item["label"] for item in items) == list(range(30))
        assert [picture for picture, _ in groupby(of)] == list(dict.fromkeys(of))  # each picture in one run
        batch = collate(items[:12])
        assert "question_of" not in batch and len(batch["features"]) == len(set(of[:12])) < 12
        told = batch["features"][batch["picture_of"]]
        apart = collate([asked[item["label"]] for item in items[:12]])
        assert torch.equal(told, apart["features"]) and torch.equal(batch["input_ids"], apart["input_ids"])
        orders.append(of)
    again = ByPicture(asked, 5)
    again.set_epoch(1)
    assert orders[0] != orders[1] == [again[number]["label"] % 7 for number in range(30)]
    with pytest.raises(InputError, match="one image each"):
        ByPicture(examples(["a"], [["s:1", "s:2"]], [0], word_tokenizer(["a"]), store, 9), 5)


def test_a_batch_tells_of_all_images_in_a_row_which_a_text_is_true_of():
    regions = Regions(np.ones((2, 3), np.float32), np.ones((2, 5), np.float32))
    items = [
        {"tokens": [2, 3], "regions": [regions] * len(present), "label": 1, "present": present}
        for present in ((True, False), (False, True, True))
    ]
    batch = collate(items)
    assert batch["present"].tolist() == [1, 0, 0, 1, 1] and batch["question_of"].tolist() == [0, 0, 1, 1, 1]


def test_a_batch_pads_what_regions_show_as_unknown():
    def item(named):
        regions = Regions(np.ones((len(named), 3), np.float32), np.ones((len(named), 5), np.float32))
        return {"tokens": [2, 3], "regions": [regions], "label": 1, "named": named}

    assert collate([item([1]), item([0, 1, -1])])["named"].tolist() == [[1, -1, -1], [0, 1, -1]]


def test_a_batch_pads_programs_with_rows_of_nothing_and_equal_ones_are_encoded_once():
    told = []

    def encode(program):
        told.append(program)
        return np.full((len(program), 3), len(program), np.int64)

    asked = Questions(["a", "b", "c"], ["is it ?"] * 3, ["yes"] * 3, [[], [], []], ["xx", "x", "xx"])
    shown = labelled(asked, ["yes"], word_tokenizer(asked.texts), None, 9, encode)
    programs = collate([shown[number] for number in range(3)])["programs"]
    assert programs[:, :, 0].tolist() == [[2, 2], [1, 0], [2, 2]] and programs.shape == (3, 2, 3)
    assert told == ["xx", "x"]
    assert "programs" not in collate([labelled(asked, ["yes"], word_tokenizer(asked.texts), None, 9)[0]])


def test_paraphrases_stand_in_the_place_of_texts_and_questions_without_one_are_left_out(tmp_path):
    asked = Questions(["a", "b", "c"], ["A?", "B?", "C?"], ["1", "2", "3"], [["x"], ["y"], ["z"]])
    said = [{"question_id": name, "text": text} for name, text in (("c", "see?"), ("a", "ay?"), ("z", "zed?"))]
    tables.write(tmp_path / "paraphrases.parquet", PARAPHRASES, said)
    found = paraphrased(asked, tmp_path / "paraphrases.parquet")
    assert found == Questions(["a", "c"], ["ay?", "see?"], ["1", "3"], [["x"], ["z"]])
    tables.write(tmp_path / "none.parquet", PARAPHRASES, [])
    assert len(paraphrased(asked, tmp_path / "none.parquet")) == 0


@pytest.mark.parametrize("truncates", [False, True])  # a tokenizer of released weights cuts by itself
def test_how_many_texts_were_cut_is_told_once(capsys, truncates):
    data._tell.cache_clear()
    texts = ["is it red ?", "is it ?", "is it very red ?"]
    words = word_tokenizer(texts)
    if truncates:
        words.enable_truncation(6)
    for _ in range(2):
        shown = examples(texts, [[]] * 3, [0] * 3, words, None, 6)
        assert [len(tokens) for tokens in shown.tokens] == [6, 5, 6]
    assert capsys.readouterr().err == "1 of 3 texts were cut at 6 tokens, as the model's setting longest says.\n"
    examples(texts, [[]] * 3, [0] * 3, word_tokenizer(texts), None, 7)
    assert capsys.readouterr().err == ""


def test_a_split_whose_parts_to_answer_are_all_empty_is_refused_before_training(tmp_path):
    path = tmp_path / "has-count.parquet"
    tables.write(path, SPLITS, split_rows("has-count", "few-shot", {"train": ["a"], "dev_iid": ["b"], "test_comp": []}))
    data.check_asked(path, ["dev_iid", "test_comp"])
    with pytest.raises(InputError, match=r"has-count\.parquet has no questions in the parts dev_comp, test_comp: make"):
        data.check_asked(path, ["dev_comp", "test_comp"])
