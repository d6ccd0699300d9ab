"""Training of question models from released weights, and their answers."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LxmertConfig, LxmertModel, PreTrainedTokenizerFast

from compvqa import tables
from compvqa.covr.questions.tables import DATASET
from compvqa.errors import InputError
from compvqa.features.store import ImageRegions, write
from compvqa.files import read_json
from compvqa.models import lxmert, vilbert, visualbert
from compvqa.models.baseline import PREDICTIONS
from compvqa.scenes.tables import SCENES
from compvqa.training.fit import OptimisationSettings
from compvqa.training.loop import TrainingSettings, train
from compvqa.training.prediction import predict
from compvqa.training.settings import PredictionSettings
from unit.models.volta_state import REGION, VILBERT, VISUALBERT, made_state

RATE = OptimisationSettings(most_steps=2, batch_size=4, evaluations=1, patience=0, learning_rate=1e-9)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Questions about images with regions, and the tokenizer of released weights."""
    folder, draw = tmp_path_factory.mktemp("loop"), np.random.default_rng(0)
    images = [ImageRegions(f"s:{n}", np.ones((2, 4)), (9.0, 9.0), draw.normal(size=(2, REGION))) for n in range(4)]
    write(folder / "regions.parquet", folder / "features.safetensors", images, REGION)
    scenes = [dict.fromkeys(SCENES.fields.names) | {"scene_id": f"s:{n}", "image": f"s:{n}"} for n in range(4)]
    pq.write_table(pa.Table.from_pylist(scenes, schema=SCENES.fields), folder / "scenes.parquet")
    rows = [dict.fromkeys(DATASET.fields.names) | question(n) for n in range(12)]
    tables.write(folder / "questions.parquet", DATASET, rows)
    words = Tokenizer(models.WordPiece({"[PAD]": 0, "[UNK]": 1, "is": 7, "it": 8, "red": 9}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(folder)
    return folder


def question(n):
    part = "dev" if n % 3 == 0 else "train"
    shown = [f"s:{n % 4}", f"s:{(n + 1) % 4}"]
    answer = "yes" if n % 2 else "no"
    return {"question_id": f"q{n:02}", "text": "is it red", "answer": answer, "scene_ids": shown, "part": part}


def volta(plan, folder, tmp_path):
    """A file of VOLTA's: what names it and its words, and the embeddings of these."""
    state = made_state(plan)
    torch.save(state, tmp_path / "released.bin")
    named = {"checkpoint": str(tmp_path / "released.bin"), "words": str(folder)}
    return named, state["bert.embeddings.word_embeddings.weight"]


def transformers(plan, folder, tmp_path):
    """A folder of LXMERT's weights and words: what names it, and the embeddings of the words."""
    config = LxmertConfig(
        vocab_size=10, hidden_size=16, num_attention_heads=2, intermediate_size=16, visual_feat_dim=REGION,
        l_layers=1, r_layers=1, x_layers=1,
    )  # fmt: skip
    torch.manual_seed(0)
    model = LxmertModel(config)
    model.save_pretrained(tmp_path / "released")
    PreTrainedTokenizerFast.from_pretrained(folder).save_pretrained(tmp_path / "released")
    return {"checkpoint": str(tmp_path / "released")}, model.embeddings.word_embeddings.weight


@pytest.fixture(scope="module")
def trained(folder, tmp_path_factory):
    """A run of a small VisualBERT from random weights."""
    out, size = tmp_path_factory.mktemp("run"), visualbert.ModelSettings(hidden_size=16, layers=1, heads=2)
    given = [folder / file for file in ("scenes.parquet", "regions.parquet", "features.safetensors")]
    settings = TrainingSettings(optimisation=RATE)
    train("visualbert", folder / "questions.parquet", None, ["train"], ["dev"], *given, None, out, size, settings, 1)
    return out


def predicted(trained, folder, out, **settings):
    given = [folder / file for file in ("scenes.parquet", "regions.parquet", "features.safetensors")]
    asked = PredictionSettings(**settings)
    predict(trained, "a.b.c.1", folder / "questions.parquet", None, ["dev"], *given, out, settings=asked)
    return tables.read(out, PREDICTIONS)


def test_predictions_are_float32_on_a_processor_and_no_worker_changes_them(trained, folder, tmp_path):
    usual = predicted(trained, folder, tmp_path / "usual.parquet", batch_size=2)
    single = predicted(trained, folder, tmp_path / "single.parquet", batch_size=2, precision="float32", workers=1)
    narrow = predicted(trained, folder, tmp_path / "narrow.parquet", batch_size=2, precision="bfloat16")
    assert usual.equals(single)
    difference = np.abs(np.array(usual["p"]) - np.array(narrow["p"])).max()
    assert 0 < difference < 0.05


def test_a_model_that_reads_regions_is_not_asked_without_them(trained, folder, tmp_path):
    files = [folder / "questions.parquet", None, ["dev"], folder / "scenes.parquet", None, None]
    with pytest.raises(InputError, match="the model visualbert reads regions: name the folder of features"):
        predict(trained, "a.b.c.1", *files, tmp_path / "p.parquet")


@pytest.mark.parametrize(
    ("module", "release", "plan"),
    [(vilbert, volta, VILBERT), (visualbert, volta, VISUALBERT), (lxmert, transformers, None)],
)
def test_released_weights_and_their_words_are_trained_and_answer(module, release, plan, folder, tmp_path):
    named, expected = release(plan, folder, tmp_path)
    size, name = module.ModelSettings(**named, heads=2, image_layers=1, longest=8), module.__name__.rpartition(".")[2]
    given = [folder / file for file in ("scenes.parquet", "regions.parquet", "features.safetensors")]
    settings = TrainingSettings(optimisation=RATE)
    asked = folder / "questions.parquet"
    counts = train(name, asked, None, ["train"], ["dev"], *given, None, tmp_path / "run", size, settings, 1)
    assert (counts["in"], counts["held out"], counts["answers"]) == (8, 4, 2)
    described = read_json(tmp_path / "run/model.json")
    assert Tokenizer.from_str(described["tokenizer"]).encode("is it red").ids == [7, 8, 9]
    learnt = load_file(tmp_path / "run/model.safetensors")
    words = learnt[f"backbone.{module.Backbone.word_embedding}"]
    assert torch.allclose(words, expected, atol=1e-6)
    predict(tmp_path / "run", "a.b.c.1", asked, None, ["dev"], *given, tmp_path / "predictions.parquet")
    answered = tables.read(tmp_path / "predictions.parquet", PREDICTIONS)
    assert answered["question_id"].to_pylist() == ["q00", "q03", "q06", "q09"]
    assert set(answered["answer"].to_pylist()) <= {"yes", "no"}


def test_a_net_without_scores_is_named_when_it_is_asked(trained, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(visualbert, "build", lambda settings, task: Silent(build(settings, task)))
    with pytest.raises(InputError, match=r"forward of .*Silent gave a dictionary of loss: have it give .* with logits"):
        predicted(trained, folder, tmp_path / "p.parquet")


build = visualbert.build


class Silent(torch.nn.Module):
    """A net that keeps its scores for itself."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def load_state_dict(self, state):
        """Load the weights of the net within."""
        return self.net.load_state_dict(state)

    def forward(self, **given):
        """All but the scores."""
        return {"loss": self.net(**given)["logits"].sum()}
