"""Models that run on this machine are asked as any other: what comes back is what they say when they are called."""

import os
import shutil
import subprocess
import threading

import numpy as np
import pytest
from PIL import Image

from compvqa import tables
from compvqa.asking.replies import REPLIES
from compvqa.covr.questions.tables import DATASET
from compvqa.features.store import ImageRegions, write
from compvqa.models import visualbert
from compvqa.models.baseline import PREDICTIONS
from compvqa.training.fit import OptimisationSettings
from compvqa.training.loop import TrainingSettings, train
from compvqa.training.prediction import predict
from fixtures.asked import Bed, in_words, needs_inspect
from fixtures.chat_protocols import pixels
from fixtures.chat_server import Chat, serving
from fixtures.tiny_vlm import OTHERS, Idefics3, beside

pytestmark = [
    needs_inspect,
    pytest.mark.skipif("COMPVQA_ASKED" not in os.environ, reason="takes a minute: make test-inspect runs it"),
    pytest.mark.skipif(not OTHERS.is_dir(), reason="inspect_ai is there for another version of Python"),
]
TOKENS, CHANGED = 12, 4


@pytest.fixture
def bed(tmp_path):
    return Bed(tmp_path / "bed")


@pytest.fixture
def tiny(bed):
    return Idefics3(bed.folder / "tiny")


def replies(bed):
    """What was replied to each question."""
    rows = tables.read(bed.folder / "replies.parquet", REPLIES).to_pylist()
    return {row["question_id"]: row["reply"] for row in rows}


def called(bed, tiny, blind=False):
    """What the model says to each of the bed's test questions when it is called without a harness."""
    said = {}
    for name in bed.right():
        number = int(name[1:])
        text = f"Question {number}?\nAnswer the question using a single word or number."
        shown = [] if blind else [bed.picture(each) for each in bed.shown(number)]
        said[name] = tiny.says(text, shown, TOKENS)
    return said


def test_a_trained_visualbert_behind_a_server_predicts_what_it_predicts_in_the_workflow(bed, tmp_path):
    draw, dimension = np.random.default_rng(0), 8
    images = [
        ImageRegions(f"toy:{n}", np.ones((2, 4)), (9.0, 9.0), draw.normal(size=(2, dimension)))
        for n in range(bed.pictures)
    ]
    write(tmp_path / "regions.parquet", tmp_path / "features.safetensors", images, dimension)
    given = [bed.folder / "scenes.parquet", tmp_path / "regions.parquet", tmp_path / "features.safetensors"]
    size = visualbert.ModelSettings(hidden_size=32, layers=1, heads=2)
    rate = OptimisationSettings(epochs=150, batch_size=30, evaluations=1, patience=0, learning_rate=1e-3)
    trained, asked, questions = tmp_path / "run", tmp_path / "asked.parquet", bed.folder / "questions.parquet"
    settings = TrainingSettings(optimisation=rate)
    train("visualbert", questions, None, ["train", "test"], [], *given, None, trained, size, settings, 1)

    def answers(dataset):
        predict(trained, "visualbert.iid.iid.1", dataset, None, ["test"], *given, tmp_path / "predicted.parquet")
        rows = tables.read(tmp_path / "predicted.parquet", PREDICTIONS).to_pylist()
        return {row["question_id"]: row["answer"] for row in rows}

    known = {pixels(bed.picture(n).read_bytes()): f"toy:{n}" for n in range(bed.pictures)}
    lock = threading.Lock()
    empty = dict.fromkeys(DATASET.fields.names) | {"question_id": "asked", "part": "test", "answer": "?"}

    def answer(question):
        shown = {"text": question.text.splitlines()[0], "scene_ids": [known[each] for each in question.pictures]}
        with lock:
            tables.write(asked, DATASET, [empty | shown])
            return in_words(answers(asked)["asked"])

    expected = answers(questions)
    with serving(Chat(answer)) as chat:
        assert bed.ask(chat.url, timeout=60).returncode == 0
    assert bed.predictions() == expected and len(set(expected.values())) == 5


def test_a_random_idefics3_behind_transformers_serve_sees_each_picture(bed, tiny):
    bed.model |= {"inspect": "openai-api/local/tiny", "generation": {"max_tokens": TOKENS}}
    with tiny.served() as url:
        done = bed.ask(url, timeout=60)
        assert done.returncode == 0, done.stderr
        first = replies(bed)
        assert first == called(bed, tiny) and len(set(first.values())) > 10
        before = tiny.logits("What is it?", [bed.picture(CHANGED)])
        with Image.open(bed.picture(CHANGED)) as image:
            image.putpixel((0, 0), (255, 255, 255))
            image.save(bed.picture(CHANGED))
        assert not tiny.logits("What is it?", [bed.picture(CHANGED)]).equal(before)
        assert bed.ask(url, timeout=60).returncode == 0
    assert replies(bed) == called(bed, tiny)
    changed = {name for name, reply in replies(bed).items() if reply != first[name]}
    assert changed == {name for name in first if CHANGED in bed.shown(int(name[1:]))}


def test_inspect_s_own_transformers_take_no_picture_and_the_files_of_models_reach_them(bed, tiny):
    arguments = {"device": "cpu", "auto_model_class": "AutoModelForImageTextToText"}
    bed.model |= {"inspect": "hf/tiny", "generation": {"max_tokens": TOKENS}, "arguments": arguments}

    def ask(**model):
        command = beside("compvqa", *bed.command(**model)[3:])
        environment = bed.environment("") | {"HF_HUB_OFFLINE": "1"}
        return subprocess.run(command, cwd=bed.folder, env=environment, capture_output=True, text=True, timeout=600)

    done = ask(images="zeroed", timeout=60)
    assert done.returncode == 0, done.stderr
    assert replies(bed) == called(bed, tiny, blind=True)
    shutil.rmtree(bed.folder / "cache")
    done = ask(timeout=60)
    assert done.returncode == 1 and "does not support multimodal content" in done.stderr
