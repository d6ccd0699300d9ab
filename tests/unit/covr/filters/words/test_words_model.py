"""The word filter's model: classes by the checkpoint's labels, and scores that depend on the pair alone."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from compvqa import tables
from compvqa.covr.filters.words.methods import learned
from compvqa.covr.filters.words.model import CLASSES, hint, load, pretrained, scores
from compvqa.covr.filters.words.overlap import Knowledge
from compvqa.covr.filters.words.settings import EncoderSettings
from compvqa.covr.filters.words.training import HELD_OUT, SCORED
from compvqa.errors import InputError
from compvqa.files import write_json
from compvqa.scenes.entries import LexiconData
from compvqa.scenes.lexicon import Lexicon

SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
LEXICON = Lexicon(LexiconData.model_validate({"attributes": {n: {"group": "color"} for n in ("red", "blue")}}))
WORDS = ("cat", "fire hydrant", "man on a very tall horse", "red", "bicycle made for two people")


def small(**changes):
    torch.manual_seed(0)
    model, _ = pretrained(EncoderSettings(changes={**SMALL, "initializer_range": 0.5}, **changes))
    return model


MODEL = small()


def m(pairs, kind="relation", model=MODEL):
    xs, ys = zip(*pairs, strict=True)
    return scores(model, kind, xs, ys, LEXICON).tolist()


@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)), min_size=1, max_size=70), st.data())
def test_what_a_pair_gets_does_not_depend_on_the_others(pairs, data):
    at = data.draw(st.integers(0, len(pairs) - 1))
    assert m(pairs)[at] == m([pairs[at]])[0]
    assert m(pairs[at:] + pairs[:at]) == m(pairs)[at:] + m(pairs)[:at]


def test_nouns_and_attributes_are_symmetric_and_relations_are_not():
    pairs = [("cat", "fire hydrant"), ("red", "cat")]
    turned = [(y, x) for x, y in pairs]
    assert m(pairs, "noun") == m(turned, "noun")
    assert m(pairs, "relation") != m(turned, "relation")
    both = np.mean([m(pairs), m(turned)], axis=0)
    assert m(pairs, "attribute") == pytest.approx(both.tolist(), abs=1e-6)


def test_a_saved_model_says_the_same(tmp_path):
    folder = tmp_path / "noun"
    folder.mkdir()
    write_json(folder / "model.json", MODEL.describe())
    save_file(MODEL.network.state_dict(), folder / "model.safetensors")
    LEXICON.dump(tmp_path / "lexicon.json")
    held_out = {"kind": "noun", "y": "y", "annotator": "Ann", "part": HELD_OUT}
    rows = [held_out | {"x": f"{n}", "label": ("exclusive", "overlapping")[n % 2], "m": n % 2 < 1} for n in range(20)]
    tables.write(folder / "scored.parquet", SCORED, rows)
    pairs = [("cat", "red"), ("fire hydrant", "cat")]
    assert m(pairs, "noun", load(folder)) == m(pairs, "noun")
    given = Knowledge(tmp_path / "lexicon.json", tmp_path)
    assert learned.scorer("noun", given)(["cat", "fire hydrant"], ["red", "cat"]) == m(pairs, "noun")
    assert learned.model_name("noun", given) == "learned:minilm"
    with pytest.raises(InputError, match="run the stage that makes it first"):
        load(tmp_path / "verb")
    with pytest.raises(InputError, match="--models"):
        learned.scorer("noun", Knowledge(tmp_path / "lexicon.json"))


@pytest.mark.parametrize(
    "order", [("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), ("entailment", "neutral", "contradiction")]
)
def test_an_nli_checkpoint_keeps_its_head_and_its_order_of_classes(tmp_path, order):
    base = EncoderSettings().folder()
    config = AutoConfig.from_pretrained(
        base, id2label=dict(enumerate(order)), label2id={o: i for i, o in enumerate(order)}
    )
    config.update(SMALL)
    saved = AutoModelForSequenceClassification.from_config(config)
    saved.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(base).save_pretrained(tmp_path)
    model, new = pretrained(EncoderSettings(checkpoint=str(tmp_path)))
    lower = [name.lower() for name in order]
    assert (model.contradiction, model.neutral) == (lower.index("contradiction"), lower.index("neutral"))
    assert torch.equal(model.network.classifier.weight, saved.classifier.weight)
    assert model.name == tmp_path.name


def test_an_encoder_without_a_head_gets_one_and_only_that_is_new():
    model, new = pretrained(EncoderSettings())
    assert set(new) == {"classifier.weight", "classifier.bias"}
    assert model.network.config.num_labels == len(CLASSES)
    assert all(value.requires_grad for value in model.network.parameters())


def test_frozen_parts_are_those_asked_for():
    network = pretrained(EncoderSettings(frozen_layers=2, frozen_words=True))[0].network
    learnt = {
        name.split(".")[3] for name, value in network.named_parameters() if value.requires_grad and "layer." in name
    }
    assert learnt == {"2", "3", "4", "5"}
    assert not any(value.requires_grad for name, value in network.named_parameters() if ".embeddings." in name)


def test_hints_say_what_the_lexicon_thinks():
    assert [hint(value) for value in (0.0, 0.05, 0.3, 0.7, 0.9)] == ["same", "kind", "perhaps", "other", "different"]
    told = small(hints=True)
    (first,) = told.encode("attribute", ["red"], ["blue"], LEXICON)
    assert first.tokens == ["[CLS]", "red", "[SEP]", "blue", "different", "[SEP]"]
    assert MODEL.encode("attribute", ["red"], ["blue"], LEXICON)[0].tokens == ["[CLS]", "red", "[SEP]", "blue", "[SEP]"]


def test_a_checkpoint_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="word_filter.encoder.checkpoint: .*nowhere cannot be loaded"):
        pretrained(EncoderSettings(checkpoint=str(tmp_path / "nowhere")))
