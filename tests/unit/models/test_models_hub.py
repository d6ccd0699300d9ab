"""Checkpoints are fetched once from a hub (one on this machine), and then load by their name without any network."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from transformers import BertConfig, BertModel

NAME, COMMIT = "lab/tiny-bert", "0123456789abcdef0123456789abcdef01234567"
LOAD = "from transformers import AutoModel; print(AutoModel.from_pretrained('lab/tiny-bert').config.hidden_size)"


class Hub(BaseHTTPRequestHandler):
    """Serves the files of one checkpoint as the Hugging Face Hub does."""

    files: dict[str, bytes] = {}
    asked: list[str] = []

    def do_GET(self):
        self.answer(body=True)

    def do_HEAD(self):
        self.answer(body=False)

    def answer(self, body: bool):
        self.asked.append(self.path)
        listing = {"id": NAME, "sha": COMMIT, "siblings": [{"rfilename": name} for name in self.files]}
        tree = [{"type": "file", "path": name, "size": len(self.files[name]), "oid": name} for name in self.files]
        if self.path.startswith(f"/api/models/{NAME}/tree/"):
            content = json.dumps(tree).encode()
        elif self.path.startswith(f"/api/models/{NAME}"):
            content = json.dumps(listing).encode()
        elif self.path.startswith(f"/{NAME}/resolve/"):
            content = self.files[self.path.split("/", 5)[5]]
        else:
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """The files of a tiny BERT as a hub has them: weights in three formats."""
    folder = tmp_path_factory.mktemp("bert")
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    BertModel(BertConfig(vocab_size=10, **sizes)).save_pretrained(folder)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    others = dict.fromkeys(("pytorch_model.bin", "tf_model.h5", "onnx/model.onnx", "README.md"), b"others read this")
    return files | others


@pytest.fixture
def hub(checkpoint):
    Hub.files, Hub.asked = checkpoint, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def python(*arguments, **environment):
    """Python in a process of its own: huggingface_hub reads its environment once."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return subprocess.run([sys.executable, *arguments], env=own | environment, capture_output=True, text=True)


def fetch(folder, endpoint, name=NAME):
    command = ("-m", "compvqa", "checkpoint", name, "--hub", str(folder), "--out", str(folder / "list.json"))
    return python(*command, HF_ENDPOINT=endpoint, HF_HUB_OFFLINE="0")


def test_a_checkpoint_is_fetched_once_and_loads_offline(hub, checkpoint, tmp_path):
    assert python("-c", LOAD, HF_HUB_CACHE=str(tmp_path), HF_HUB_OFFLINE="1").returncode != 0
    done = fetch(tmp_path, hub)
    assert done.returncode == 0, done.stderr
    listed = json.loads((tmp_path / "list.json").read_text())
    wanted = ("config.json", "model.safetensors")
    assert listed["commit"] == COMMIT
    assert listed["files"] == {name: hashlib.sha256(checkpoint[name]).hexdigest() for name in wanted}
    loaded = python("-c", LOAD, HF_HUB_CACHE=str(tmp_path), HF_HUB_OFFLINE="1")
    assert loaded.stdout.strip() == "8", loaded.stderr
    asked = len(Hub.asked)
    assert fetch(tmp_path, hub).returncode == 0
    assert not any("resolve" in path and "model.safetensors" in path for path in Hub.asked[asked:])


def test_weights_of_pickles_are_taken_where_there_are_no_others(hub, checkpoint, tmp_path):
    Hub.files = {name: content for name, content in checkpoint.items() if name != "model.safetensors"}
    done = fetch(tmp_path, hub)
    assert done.returncode == 0, done.stderr
    assert set(json.loads((tmp_path / "list.json").read_text())["files"]) == {"config.json", "pytorch_model.bin"}


@pytest.mark.parametrize("name", ["lab/unknown", "not a name"])
def test_a_name_that_the_hub_does_not_know_is_told(hub, tmp_path, name):
    done = fetch(tmp_path, hub, name)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert f"compvqa: the checkpoint {name} (main) could not be fetched" in done.stderr


def test_a_hub_that_does_not_answer_is_told(tmp_path):
    done = fetch(tmp_path, "http://127.0.0.1:9")
    assert done.returncode == 1 and "Traceback" not in done.stderr and "check the network" in done.stderr
