"""A net that others fine-tuned, in AllenNLP's archive: it answers as their code does, by our answers' names."""

import io
import json
import pickle
import tarfile

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from compvqa import tables
from compvqa.covr.questions.tables import DATASET
from compvqa.errors import InputError
from compvqa.features.store import ImageRegions, RegionStore, write
from compvqa.models import visualbert
from compvqa.models.allennlp import Archive
from compvqa.models.baseline import PREDICTIONS
from compvqa.scenes.tables import SCENES
from compvqa.training.fine_tuned import TakenSettings, called, take_weights
from compvqa.training.prediction import predict
from unit.models.volta_state import CONFIG, HEADS, REGION, VISUALBERT, archived, as_the_authors_do, fine_tuned_state

LABELS = ["False", "True", "cutting:_with", "sea green"]
ANSWERS = ["true", "false", "cutting with", "red"]  # of our questions
WORDS = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "is": 7, "it": 8, "red": 9, "big": 10, "or": 11}
ASKED = ["is it red", "is it big or red", "it", "is red it", "or or or", "big big is it red or big"]
QUESTIONS = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Questions about one to five images of two regions each, and the tokenizer of released weights."""
    folder, draw = tmp_path_factory.mktemp("asked"), np.random.default_rng(0)
    boxes = np.array([[1, 2, 4, 4], [0, 0, 8, 6]])
    images = [ImageRegions(f"vg:{n}", boxes, (9.0, 9.0), draw.normal(size=(2, REGION))) for n in range(5)]
    write(folder / "regions.parquet", folder / "features.safetensors", images, REGION)
    tables.write(folder / "scenes.parquet", SCENES, [one(SCENES, scene_id=f"s:{n}", image=f"vg:{n}") for n in range(5)])
    rows = [one(DATASET, **question(n)) for n in range(QUESTIONS)]
    tables.write(folder / "questions.parquet", DATASET, rows)
    words = Tokenizer(models.WordPiece(WORDS, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [(token, WORDS[token]) for token in ("[CLS]", "[SEP]")]
    words.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(folder)
    return folder


def question(n):
    shown = [f"s:{(n + at) % 5}" for at in range(1 + n % 5)]
    said = {"text": ASKED[n % len(ASKED)], "answer": ANSWERS[n % 4], "part": "train" if n < 4 else "test"}
    return {"question_id": f"q{n:02}", "scene_ids": shown} | said


def one(schema, **given):
    return dict.fromkeys(schema.fields.names) | given


@pytest.fixture(scope="module")
def state():
    return fine_tuned_state(VISUALBERT, len(LABELS))


def settings_of(archive, folder, **changed):
    size = {"heads": HEADS, "image_layers": 2, "longest": 16, "as_released": True, "words": str(folder)}
    return visualbert.ModelSettings(**size | {"checkpoint": str(archive)} | changed)


def taken(archive, folder, out, part="train", **changed):
    """What is counted when the archive becomes a run in ``out``."""
    given = [folder / file for file in ("regions.parquet", "features.safetensors")]
    settings = settings_of(archive, folder, **changed)
    return take_weights(
        "visualbert", folder / "questions.parquet", [part], *given, out, settings, TakenSettings(most_regions=2)
    )


def shown_in(folder):
    """The ids of the test questions' words, and for each the features and places of its images' regions."""
    store = RegionStore(folder / "regions.parquet", folder / "features.safetensors")
    for n in range(4, QUESTIONS):
        of = [store[f"vg:{(n + at) % 5}"] for at in range(1 + n % 5)]
        seen = ([np.array(image.features, np.float32) for image in of], [image.geometry for image in of])
        words = [2, *(WORDS[word] for word in ASKED[n % len(ASKED)].split()), 3]
        yield words, tuple(torch.tensor(np.stack(part)) for part in seen)


def test_it_answers_as_the_authors_code_does_and_says_which_answers_are_not_ours(state, folder, tmp_path):
    scores = as_the_authors_do(state, VISUALBERT, *zip(*shown_in(folder), strict=True))
    usual = scores.mean(dim=0)  # without which all questions have one answer
    level = state | {"classifier_layer.bias": state["classifier_layer.bias"] - usual}
    p, best = torch.softmax(scores - usual, dim=1).max(dim=1)
    assert len(set(best.tolist())) > 1
    archive = archived(tmp_path / "model.tar.gz", level, LABELS)
    with pytest.warns(UserWarning) as told:
        counts = taken(archive, folder, tmp_path / "run")
    assert [str(one.message).removeprefix(f"{archive}: ") for one in told] == [
        "1 answers that no question has here: sea green.",
        "1 answers of questions here that it can't give: red.",
    ]
    assert list(counts.values()) == [4, 1, 1, 692352]
    given = [folder / file for file in ("scenes.parquet", "regions.parquet", "features.safetensors")]
    predict(tmp_path / "run", "a.iid.iid.1", folder / "questions.parquet", None, ["test"], *given, tmp_path / "p")
    found = tables.read(tmp_path / "p", PREDICTIONS).to_pylist()
    names = ["false", "true", "cutting with", "sea green"]
    assert [row["answer"] for row in found] == [names[number] for number in best]
    assert [row["p"] for row in found] == pytest.approx(p.tolist(), abs=1e-4)


def test_answers_are_called_as_ours_where_one_alone_is_alike():
    assert called(["True", "wine glass", "3", "T-shirt"], ["true", "wine glass", "3", "t shirt", "t-shirt"]) == [
        *("true", "wine glass", "3", "T-shirt")
    ]


def with_config(**changed):
    return {"config.json": json.dumps({"model": CONFIG | changed})}


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"weights.th": None}, "lacks weights.th: take the archive that AllenNLP wrote"),
        ({"vocabulary/labels.txt": None}, "lacks vocabulary/labels.txt"),
        ({"config.json": "[1, 2]"}, "its config.json is no JSON object"),
        ({"config.json": "[" * 9999}, "its config.json is no JSON object"),
        ({"config.json": "{}"}, "has no section model"),
        ({"vocabulary/labels.txt": b"\xff\xfe"}, "its vocabulary is not UTF-8 text"),
        ({"vocabulary/non_padded_namespaces.txt": "*tags\n"}, "pads its labels, so that its first class is no answer"),
        ({"vocabulary/labels.txt": "yes\nno\n"}, "answers with yes, no, and none of these is an answer in"),
        ({"vocabulary/labels.txt": "True\nFalse\n"}, r"classifier_layer.weight has the shape \(4, 20\), not \(2, 20\)"),
        (with_config(max_seq_length=60), "max_seq_length 60, not 16: set longest to it"),
        (with_config(classifier_transformer_layers=1), "layers 1, not 2: set image_layers to it"),
        (with_config(num_images=0), "num_images 0, not 5: name another archive"),
        (with_config(type="lstm"), "type 'lstm', not 'volta'"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*answers")
def test_what_does_not_fit_is_one_sentence(changed, sentence, state, folder, tmp_path):
    archive = archived(tmp_path / "model.tar.gz", state, LABELS, **changed)
    with pytest.raises(InputError, match=sentence) as refused:
        taken(archive, folder, tmp_path / "run")
    assert not (tmp_path / "run").exists() and "\n" not in str(refused.value)


@pytest.mark.filterwarnings("ignore:.*answers")
def test_a_model_that_is_not_as_released_takes_none(state, folder, tmp_path):
    archive = archived(tmp_path / "model.tar.gz", state, LABELS)
    with pytest.raises(InputError, match="takes no weights of .*: set as_released"):
        taken(archive, folder, tmp_path / "run", as_released=False)


def test_a_part_that_there_is_not_is_told_as_such(state, folder, tmp_path):
    archive = archived(tmp_path / "model.tar.gz", state, LABELS)
    with pytest.raises(InputError, match="questions.parquet has no question in trian: choose of .*train"):
        taken(archive, folder, tmp_path / "run", part="trian")


class Evil:
    """Unpickled by torch's old way, it runs what it likes."""

    def __reduce__(self):
        return (open, ("pwned.txt", "w"))


def saved(state):
    file = io.BytesIO()
    torch.save(state, file)
    return file.getvalue()


def member(name, kind=tarfile.REGTYPE, content=b"x", link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(content) if kind == tarfile.REGTYPE else 0
    return info, io.BytesIO(content)


@pytest.mark.parametrize(
    ("hostile", "sentence"),
    [
        (member("../../pwned.txt"), "leaves the folder, so that nothing was unpacked"),
        (member("/tmp/pwned.txt"), "leaves the folder, so that nothing was unpacked"),
        (member("weights.th", tarfile.SYMTYPE, link="/etc/passwd"), "is a link or leaves the folder"),
        (member("vocabulary/x", tarfile.LNKTYPE, link="config.json"), "is a link or leaves the folder"),
        (member("dev", tarfile.CHRTYPE), "is a link or leaves the folder"),
        (member("zeros", content=bytes(30_000_000)), "more than 4 times its own size"),
    ],
)
def test_hostile_archives_are_refused_whole(hostile, sentence, state, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plain = archived(tmp_path / "plain.tar.gz", state, LABELS)
    with tarfile.open(plain) as good, tarfile.open("model.tar.gz", "w:gz") as bad:
        for info in good:
            bad.addfile(info, good.extractfile(info))
        bad.addfile(*hostile)
    with pytest.raises(InputError, match=sentence):
        Archive.read("model.tar.gz")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["model.tar.gz", "plain.tar.gz"]


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (saved({"encoder.bert.a": Evil()}), "can't be read"),
        (pickle.dumps(Evil(), 2), "can't be read"),
        (b"", "can't be read"),
        (b"<!doctype html>", "can't be read"),
        (saved({"encoder.bert.a": 1}), "holds no tensors by name, or other things too"),
    ],
)
def test_weights_run_no_code(weights, sentence, state, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    archived("model.tar.gz", state, LABELS, **{"weights.th": weights})
    with pytest.raises(InputError, match=sentence):
        Archive.read("model.tar.gz")
    assert not (tmp_path / "pwned.txt").exists()


@pytest.mark.parametrize("content", [b"", b"<!doctype html>", b"\x1f\x8b\x08cut"])
def test_what_is_no_archive_is_told(content, tmp_path):
    (tmp_path / "model.tar.gz").write_bytes(content)
    with pytest.raises(InputError, match="is no whole tar archive"):
        Archive.read(str(tmp_path / "model.tar.gz"))
    with pytest.raises(InputError, match="could not be written or read"):
        Archive.read(str(tmp_path / "gone.tar.gz"))
