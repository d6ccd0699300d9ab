"""Words as tokens, and batches."""

import numpy as np

from compvqa.features.store import Regions
from compvqa.graphs.subgraph import Edge, make
from compvqa.seeds import generator
from compvqa.training.data import MASK, collate, shared_words, word_tokenizer
from compvqa.training.match import mask, right


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


def test_one_name_is_masked():
    subgraph = make("man", "old", (Edge("on", make("horse", "white")),))
    found = {mask(subgraph, generator(0, number))[1] for number in range(60)}
    assert found == {"man", "old", "on", "horse", "white"}
    masked, name = mask(subgraph, generator(0, 1))
    assert masked.json().count(MASK) == 1 and name not in masked.json().replace(MASK, "")


def test_a_count_is_right_if_it_tells_presence():
    scores = np.eye(3)[[0, 2, 1, 0]]
    assert right(scores, np.array([0, 1, 0, 2]), 3).tolist() == [True, True, False, False]
