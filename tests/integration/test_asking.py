"""A model behind a server on loopback is asked by inspect_ai: its answers come back, and failures are no answers.

``COMPVQA_KILLS=20`` kills more often than the default.
"""

import os
import re
import subprocess
import time

import pytest

from compvqa import tables
from compvqa.asking.replies import REPLIES
from compvqa.evaluation.scores import score
from compvqa.splits.splitters import SPLITS
from fixtures.asked import ANSWERS, SECRET, Bed, needs_inspect
from fixtures.chat_protocols import pixels
from fixtures.chat_server import BROKEN, HALF, MANY, NONSENSE, TIMEOUT, Chat, serving
from fixtures.generated import Generated
from fixtures.paper_tables import rows_of
from fixtures.split_rows import split_rows

pytestmark = needs_inspect
SIDES = ("train", "test")
KILLS = int(os.environ.get("COMPVQA_KILLS", "3"))


@pytest.fixture
def bed(tmp_path):
    return Bed(tmp_path / "bed")


def test_answers_are_those_of_the_server_and_nothing_is_asked_twice(bed):
    with serving(Chat(bed.oracle)) as chat:
        assert bed.ask(chat.url).returncode == 0
        assert bed.predictions() == bed.right()
        assert len(chat.asked) == len(bed.right()) and chat.keys == {f"Bearer {SECRET}"}
        rows = tables.read(bed.folder / "replies.parquet", REPLIES).to_pylist()
        assert {(row["how"], row["input_tokens"]) for row in rows} == {("exact", 7), ("form", 7), ("found", 7)}
        first = (bed.folder / "out.parquet").read_bytes()
        assert bed.ask(chat.url).returncode == 0
        assert len(chat.asked) == len(bed.right()) and (bed.folder / "out.parquet").read_bytes() == first


def test_the_key_is_in_no_file(bed):
    with serving(Chat(bed.oracle)) as chat:
        done = bed.ask(chat.url)
    assert SECRET not in done.stdout + done.stderr
    files = [path for path in bed.folder.rglob("*") if path.is_file()]
    assert len(files) > 30 and not [path for path in files if SECRET.encode() in path.read_bytes()]
    logged = bed.logged()
    assert len(logged) > len(bed.right()) and not [name for name, text in logged.items() if SECRET in text]


@pytest.mark.parametrize(
    ("model", "key"),
    [
        ("vllm/oracle", f"Bearer {SECRET}"),
        ("anthropic/claude-oracle", f"Bearer {SECRET}"),
        ("google/gemini-oracle", SECRET),
    ],
)
def test_providers_of_other_protocols_show_pictures_and_shots_and_keep_what_was_answered(bed, model, key):
    with serving(Chat(bed.oracle)) as chat:
        done = bed.ask(chat.url, inspect=model, shots=1)
        assert done.returncode == 0, done.stderr
        assert bed.predictions() == bed.right() and chat.keys == {key}
        assert len(chat.asked) == len(bed.right()) and {question.messages for question in chat.asked} == {3}
        assert all(question.shown > len(question.pictures) > 0 for question in chat.asked)
        rows = tables.read(bed.folder / "replies.parquet", REPLIES).to_pylist()
        assert {(row["input_tokens"], row["output_tokens"]) for row in rows} == {(7, 1)}
        assert bed.ask(chat.url, inspect=model, shots=1).returncode == 0
        assert len(chat.asked) == len(bed.right())
    assert not [path for path in bed.folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert not [name for name, text in bed.logged().items() if SECRET in text]


def test_the_log_of_a_question_holds_no_other(bed):
    with serving(Chat(bed.oracle)) as chat:
        assert bed.ask(chat.url).returncode == 0
    logged = bed.logged()
    for name in bed.right():
        told = logged[f"samples/{name}.generated_epoch_1.json"]
        assert set(re.findall(r"Question \d+\?", told)) == {f"Question {int(name[1:])}?"}


def test_one_pixel_changed_asks_exactly_the_questions_with_that_picture_again(bed):
    from PIL import Image

    with serving(Chat(bed.oracle)) as chat:
        assert bed.ask(chat.url).returncode == 0
        chat.asked.clear()
        with Image.open(bed.picture(4)) as image:
            image.putpixel((0, 0), (255, 255, 255))
            image.save(bed.picture(4))
        assert bed.ask(chat.url).returncode == 0
        new = pixels(bed.picture(4).read_bytes())
        shown = [number for number in range(bed.questions) if number % 3 and 4 in bed.shown(number)]
        assert shown and sorted(q.text.splitlines()[0] for q in chat.asked) == sorted(f"Question {n}?" for n in shown)
        assert all(new in question.pictures for question in chat.asked)
        assert bed.predictions() == bed.right()


def test_a_request_that_fails_is_no_answer_and_is_asked_again_alone(bed):
    again, lost = [MANY, BROKEN], [TIMEOUT, NONSENSE, HALF]  # what OpenAI's client itself tries again, and what not
    with serving(Chat(bed.oracle, faults=[*again, *lost])) as chat:
        done = bed.ask(chat.url, timeout=8)
        assert done.returncode == 1 and not (bed.folder / "out.parquet").exists()
        assert f"{len(lost)} of {len(bed.right())} requests to openai-api/local/oracle failed" in done.stderr
        assert "AttemptTimeoutError" in done.stderr and "Traceback" not in done.stderr
        assert len(chat.asked) == len(bed.right()) + len(again)
        chat.asked.clear()
        assert bed.ask(chat.url).returncode == 0
        assert len(chat.asked) == len(lost) and bed.predictions() == bed.right()


def test_after_a_kill_nothing_is_asked_twice_but_what_was_open(tmp_path, last_lines):
    bed = Bed(tmp_path / "bed", questions=10 * KILLS)
    wanted, opened = len(bed.right()), 4
    with serving(Chat(bed.oracle, delay=0.3)) as chat:
        for kill in range(KILLS):
            running = subprocess.Popen(
                bed.command(), cwd=bed.folder, env=bed.environment(chat.url), stderr=subprocess.PIPE
            )
            before, end = len(chat.answered), time.monotonic() + 60
            while len(chat.answered) < min(before + 3, wanted) and time.monotonic() < end:
                time.sleep(0.02)
            running.kill()
            running.communicate()
            assert not (bed.folder / "out.parquet").exists(), kill
        chat.delay = 0
        assert bed.ask(chat.url).returncode == 0
        assert wanted <= len(chat.asked) <= wanted + KILLS * opened
        assert bed.predictions() == bed.right()
    last_lines.append(f"{KILLS} kills: {wanted} questions took {len(chat.asked)} requests, {opened} open at a time.")


def test_blind_no_picture_is_sent_and_shots_share_no_image_with_their_question(bed):
    said = list(ANSWERS)
    with serving(Chat(lambda question: said[len(question.text) % 5])) as chat:
        assert bed.ask(chat.url, images="zeroed").returncode == 0
        assert {question.shown for question in chat.asked} == {0}
        chat.asked.clear()
        assert bed.ask(chat.url, shots=2, generation={"temperature": 0.5}).returncode == 0
        assert {question.messages for question in chat.asked} == {5}
        assert all(question.shown > len(question.pictures) for question in chat.asked)


def test_an_oracle_is_always_right_and_a_blind_majority_is_majtempl(tmp_path):
    made = Generated(tmp_path / "bed")
    with serving(Chat(made.oracle)) as chat:
        done = made.ask(chat.url)
        assert done.returncode == 0, done.stderr
        assert made.predictions() == made.right() and len(made.right()) > 250
        majority = made.majority()
        said = {text: answer for text, answer in majority.values()}
        chat.answer = lambda question: said.get(question.text.splitlines()[0], "?")
        assert made.ask(chat.url, images="zeroed").returncode == 0
    found, right = made.predictions(), made.right()
    assert {name: found[name] for name in majority} == {name: answer for name, (_, answer) in majority.items()}
    assert 50 < sum(found[name] == right[name] for name in majority) < len(majority)


def test_recorded_answers_become_scores_and_pages(bed, tmp_path):
    """Every reply is yes, which is right of a fifth of the questions."""
    replies = {"inspect": "mockllm/model", "arguments": {"custom_outputs": ["Yes."] * bed.questions}}
    assert bed.ask("http://127.0.0.1:9/v1", **replies).returncode == 0
    assert set(bed.predictions().values()) == {"true"}
    parts = {part: [f"q{n:03}" for n in range(bed.questions) if (n % 3 == 0) == (part == "train")] for part in SIDES}
    tables.write(bed.folder / "iid.parquet", SPLITS, split_rows("iid", "iid", parts))
    made = [bed.folder / name for name in ("out.parquet", "questions.parquet", "iid.parquet")]
    score([made[0]], made[1], [made[2]], tmp_path / "scores.parquet", tmp_path / "contrasts.parquet")
    inputs = {"splits": [made[2]], **{name: [tmp_path / name] for name in ("models", "definitions")}}
    inputs |= {name: [tmp_path / f"{name}.parquet"] for name in ("scores", "contrasts")}
    for name, text in {"models/oracle": "inspect: mockllm/model", "definitions/iid": "setup: iid"}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / f"{name}.yaml").write_text(text)
    row = rows_of("splits", inputs, tmp_path, "asked")["iid: oracle"]
    assert (row["From"], row["All"], row["All n"]) == ("no shots", "20", "20")
    named = (bed.folder / "replies.parquet").rename(tmp_path / "oracle.iid.iid.1.replies.parquet")
    cost = rows_of("cost", {"replies": [named]}, tmp_path, "asked")["oracle on iid, iid"]
    assert (cost["Requests"], cost["No answer"]) == ("20", "0")


def test_logs_become_a_viewer(bed):
    with serving(Chat(bed.oracle)) as chat:
        assert bed.ask(chat.url).returncode == 0
        command = [*bed.command()[:3], "bundle-replies", "viewer", "--logs", "logs"]
        subprocess.run(command, cwd=bed.folder, env=bed.environment(chat.url), check=True, capture_output=True)
    assert (bed.folder / "viewer/index.html").is_file() and list((bed.folder / "viewer/logs").glob("*.eval"))
