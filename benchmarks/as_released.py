"""COVR's models as their authors' own code runs them, beside ours: the same random weights, questions and features.

    python benchmarks/as_released.py benbogin/covr-dataset FOLDER --model ctrl_visualbert_base ctrl_vilbert_base

The first is a checkout of github.com/benbogin/covr-dataset, whose loader and net (VOLTA's, at their real size) run as
they are. Of what they import, AllenNLP's base classes and two libraries for downloads are put in their place from
outside, and nothing is moved to a GPU; none of these computes anything. Their net gets random weights and is packed as
AllenNLP would; ours takes that archive and reads the same file of features, by the workflow's own stages.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import h5py
import numpy as np
import torch
import transformers
from measure import print_table

from compvqa import tables
from compvqa.covr.questions.tables import DATASET
from compvqa.features.released import read_released
from compvqa.features.settings import ReleasedSettings, ReleasedSource
from compvqa.models.as_released import IMAGES, ReleasedModel
from compvqa.models.baseline import PREDICTIONS
from compvqa.scenes.tables import SCENES
from compvqa.training.fine_tuned import TakenSettings, take_weights
from compvqa.training.modules import plugin
from compvqa.training.prediction import predict
from compvqa.training.settings import PredictionSettings

OURS = {"ctrl_visualbert_base": "visualbert", "ctrl_vilbert_base": "vilbert"}
REGIONS, DIMENSION, SIDE = 36, 2048, 640.0
LONGEST, LAYERS = 60, 2  # of train_configs/defaults.jsonnet
PART = "test"
STORE = ("regions.parquet", "features.safetensors")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = "a all and any apple are at big black cat contain dog during grey how images in is man many more no of on or"
WORDS += " person red same some table than that the there two what wheel wooden with woman ##s ##ing ##en ? ,"
TOKENS = [*SPECIAL, *WORDS.split()]
ANSWERS = ["True", "False", *map(str, range(6)), "red", "black", "wooden table", "cutting:_with"]
GONE = 7  # one of so many images is not in the file of features


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="of github.com/benbogin/covr-dataset")
    parser.add_argument("folder", type=Path, help="where files are made")
    parser.add_argument("--model", nargs="+", choices=OURS, default=list(OURS), help="of their volta_configs")
    parser.add_argument("--questions", type=int, default=60)
    options = parser.parse_args()
    experiments = options.checkout / "experiments"
    if not (experiments / "src/models/volta.py").exists():
        sys.exit(f"{experiments} has no src/models/volta.py: name a checkout of github.com/benbogin/covr-dataset.")
    asked = Asked.drawn(options.questions)
    asked.write(options.folder)
    torch.manual_seed(0)
    with their_code(experiments, options.folder) as (net, reader):
        rows = [
            compared(name, images, asked, experiments, options.folder, net, reader)
            for name in options.model
            for images in (IMAGES, 0)
        ]
    print_table(HEADS, rows)


@dataclass(frozen=True)
class Asked:
    """Questions: their texts, answers and images, of which the file of features has those in ``known``."""

    texts: list[str]
    answers: list[str]
    images: list[list[str]]
    known: list[str]

    @classmethod
    def drawn(cls, number: int) -> Asked:
        """So many texts of up to ninety words, some unknown, about one to five images."""
        draw = random.Random(1)
        words = [word for word in TOKENS[len(SPECIAL) :] if not word.startswith("##")] + ["Apples", "wheeling", "ôh"]
        texts = [" ".join(draw.choices(words, k=draw.randint(1, 20 if n % 4 else 90))) for n in range(number)]
        names = [f"{'jumping_' * (n % 2)}{n}{'.jpg' * (n % 2)}" for n in range(2 * number)]
        known = [name for at, name in enumerate(names) if at % GONE]
        images = [[draw.choice(known)] for _ in texts]
        for n, of in enumerate(images):
            of += draw.sample([name for name in names if name not in of], n % IMAGES)
        return cls(texts, [draw.choice(ANSWERS) for _ in texts], images, known)

    def write(self, folder: Path) -> None:
        """The authors' files, and our tables of the same."""
        folder.mkdir(parents=True, exist_ok=True)
        draw = np.random.default_rng(2)
        corners = np.sort(draw.uniform(0, 1, (len(self.known), REGIONS, 2, 2)), axis=2).astype(np.float32)
        features = np.maximum(draw.normal(0, 1, (len(self.known), REGIONS, DIMENSION)), 0).astype(np.float32)
        with h5py.File(folder / "features.h5", "w") as file:
            file["boxes"] = corners.reshape(len(self.known), REGIONS, 4)
            file["features"] = features
        (folder / "index.json").write_text(json.dumps({name: at for at, name in enumerate(self.known)}))
        lines = [
            {"utterance": text, "answer": answer, "scenes": images, "qid": number, "pattern_name": "drawn"}
            | {"program": [], "properties": []}
            for number, (text, answer, images) in enumerate(zip(self.texts, self.answers, self.images, strict=True))
        ]
        (folder / "test.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        spaced = {name: ours(name) for of in self.images for name in of}
        scenes = [row(SCENES, scene_id=image, image=image, width=SIDE, height=SIDE) for image in spaced.values()]
        tables.write(folder / "scenes.parquet", SCENES, scenes)
        questions = [
            row(DATASET, question_id=f"{line['qid']:06}", text=line["utterance"], answer=line["answer"], part=PART)
            | {"scene_ids": [spaced[name] for name in line["scenes"]]}
            for line in lines
        ]
        tables.write(folder / "questions.parquet", DATASET, questions)
        words = transformers.BertTokenizerFast(vocab=dict(zip(TOKENS, range(len(TOKENS)), strict=True)))
        words.save_pretrained(folder)
        files = [folder / "features.h5", folder / "index.json"]
        sources = [ReleasedSource(image_space=space, reader="covr_h5", files=files) for space in ("vg", "imsitu")]
        told = ReleasedSettings(sources=sources, most_missing=1, dtype="float32")
        read_released(folder, *(folder / name for name in STORE), folder / "rejects.parquet", told)


def ours(name: str) -> str:
    """What an image of theirs is called here."""
    return f"imsitu:{name.removesuffix('.jpg')}" if name.endswith(".jpg") else f"vg:{name}"


def row(schema: tables.Schema, **given: Any) -> dict[str, Any]:
    return dict.fromkeys(schema.fields.names) | given


@contextmanager
def their_code(experiments: Path, folder: Path) -> Iterator[tuple[type, type]]:
    """The authors' net and their reader of questions, with what they import and what computes nothing put in place."""
    metric = type("Average", (), {"__call__": lambda *_: None, "get_metric": lambda *_, **__: 0.0})
    base = {"register": staticmethod(lambda *_, **__: lambda of: of), "max_instances": None}
    net = type("Model", (torch.nn.Module,), base | {"__init__": model_of})
    reader = type("DatasetReader", (), base | {"__init__": lambda self, **_: None})
    fields = type("Instance", (), {"__init__": lambda self, fields: setattr(self, "fields", fields)})
    same = SimpleNamespace(LabelField=str, MetadataField=lambda given: given, TensorField=lambda given: given)
    stood_in = {
        "allennlp.data": {"Vocabulary": object},
        "allennlp.data.dataset_readers.dataset_reader": {"DatasetReader": reader},
        "allennlp.data.fields": vars(same),
        "allennlp.data.instance": {"Instance": fields},
        "allennlp.models": {"Model": net},
        "allennlp.training.metrics": {"Average": metric},
        "overrides": {"overrides": lambda of: of},
        "boto3": {},
        "botocore.exceptions": {"ClientError": OSError},
    }
    modules = {name: stand_in(name, content) for name, content in stood_in.items()}
    parents = {name.rsplit(".", n)[0] for name in modules for n in range(1, name.count(".") + 1)}
    modules |= {name: stand_in(name, {}) for name in parents - set(modules)}
    words = transformers.BertTokenizer.from_pretrained(folder)
    with (
        patch.dict(sys.modules, modules),
        patch.object(sys, "path", [str(experiments), *sys.path]),
        patch.object(torch.Tensor, "cuda", lambda self: self),
        patch.object(transformers.BertTokenizer, "from_pretrained", lambda *_, **__: words),
    ):
        from src.dataset_readers.vcqa import VCQADatasetReader
        from src.models.volta import VisualBertEncoder

        yield VisualBertEncoder, VCQADatasetReader


def model_of(self: torch.nn.Module, vocab: Any) -> None:
    """What AllenNLP's Model does when it begins, as far as theirs needs it."""
    torch.nn.Module.__init__(self)
    self.vocab = vocab


def stand_in(name: str, content: dict[str, Any]) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(content, __path__=[])
    return module


HEADS = [
    "model", "parameters", "questions", "scores off by at most", "deviation over questions", "same answer", "p off by",
]  # fmt: skip


def compared(
    name: str, images: int, asked: Asked, experiments: Path, folder: Path, net: type, reader: type
) -> list[str]:
    """A row of the table: ``images`` are those that the net sees of a question, none in the text-only baseline."""
    theirs = made(net, name, images, experiments, folder)
    expected = their_scores(theirs, reader, images, folder)
    archive = folder / f"{name}-{images}.tar.gz"
    pack(archive, theirs, name, images)
    module = OURS[name]
    settings = {"checkpoint": str(archive), "words": str(folder), "as_released": True, "heads": 8}
    settings |= {"image_layers": LAYERS, "longest": LONGEST, "images": "seen" if images else "zeroed"}
    out, given = folder / f"{name}-{images}", [folder / file for file in STORE]
    sized = plugin(module).ModelSettings(**settings)
    take_weights(module, folder / "questions.parquet", [PART], *given, out, sized, TakenSettings(most_regions=REGIONS))
    found, answers, p = our_scores(out, folder)
    shares, best = torch.softmax(expected, dim=1).max(dim=1)
    count = sum(value.numel() for value in theirs.parameters())
    return [
        f"{name}, {images or 'no'} images",
        f"{count:,}",
        f"{len(asked.texts)}",
        f"{(found - expected).abs().max():.1e}",
        f"{expected.std(dim=0).min():.2f} to {expected.std(dim=0).max():.2f}",
        f"{sum(a == ANSWERS[n] for a, n in zip(answers, best.tolist(), strict=True))}",
        f"{(torch.tensor(p) - shares).abs().max():.1e}",
    ]


def made(net: type, name: str, images: int, experiments: Path, folder: Path) -> torch.nn.Module:
    """Their net as their config says, with weights, biases and norms of random numbers, so that questions differ."""
    from src.models.volta_src.config import BertConfig
    from src.models.volta_src.encoders import BertForVLTasks

    config = experiments / f"pretrained_volta/volta_configs/{name}.json"
    vocabulary = SimpleNamespace(get_vocab_size=lambda _: len(ANSWERS))
    start = folder / "pytorch_model.bin"
    torch.save(BertForVLTasks(BertConfig.from_json_file(str(config)), len(ANSWERS)).state_dict(), start)
    made = net(vocabulary, LONGEST, images, str(folder), str(config), LAYERS, True)
    start.unlink()
    with torch.no_grad():
        for key, value in made.named_parameters():
            norm = "LayerNorm.weight" in key
            scale = value.shape[-1] ** -0.5 if value.dim() == 2 and "embeddings." not in key else 0.1
            value.normal_(std=scale).add_(float(norm))
    return made.eval()


@torch.no_grad()
def their_scores(net: torch.nn.Module, reader: type, images: int, folder: Path, batch: int = 12) -> torch.Tensor:
    """Their net's scores [questions, answers], in the order of the questions' numbers."""
    read = reader(
        features_h5_path=folder / "features.h5",
        img_key_to_index_path=folder / "index.json",
        number_images_per_question=images,
        num_vis_position_features=5,
        base_path=folder,
        _always_load_features=True,
    )
    scores = []
    net.classifier_layer.register_forward_hook(lambda _, __, out: scores.append(out))
    with (folder / "their.log").open("w") as log, patch.object(sys, "stderr", log):
        found = [one.fields for one in read._read("test.jsonl")]
    for start in range(0, len(found), batch):
        rows = found[start : start + batch]
        shown = [torch.tensor(np.stack([one[key] for one in rows])) for key in ("visual_features", "visual_positions")]
        net(*shown, tuple(one["sentence"] for one in rows))
    order = np.argsort([one["metadata"]["qid"] for one in found])
    return torch.cat(scores)[order]


def pack(path: Path, net: torch.nn.Module, name: str, images: int) -> None:
    """An archive of ``net`` with the files that AllenNLP writes."""
    model = {"type": "volta", "max_seq_length": LONGEST, "num_images": images, "classifier_transformer_layers": LAYERS}
    model |= {"classifier_transformer_layers_cls": True, "pretrained_model_config": f"{name}.json"}
    state = io.BytesIO()
    torch.save(net.state_dict(), state)
    files = {"config.json": json.dumps({"model": model}).encode(), "weights.th": state.getvalue()}
    files |= {"vocabulary/labels.txt": "\n".join(ANSWERS).encode()}
    files |= {"vocabulary/non_padded_namespaces.txt": b"*tags\n*labels\n"}
    with tarfile.open(path, "w:gz", compresslevel=0) as archive:
        for file, content in files.items():
            info = tarfile.TarInfo(file)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def our_scores(run: Path, folder: Path) -> tuple[torch.Tensor, Sequence[str], Sequence[float]]:
    """Our net's scores, and the answers and their probabilities in the table of predictions, both in that order."""
    scores: list[torch.Tensor] = []

    def note(module: torch.nn.Module, _: Any, gave: Any) -> None:
        if isinstance(module, ReleasedModel):
            scores.append(gave["logits"])

    hook = torch.nn.modules.module.register_module_forward_hook(note)
    files = [folder / name for name in ("scenes.parquet", *STORE)]
    dataset, out = folder / "questions.parquet", run / "predictions.parquet"
    predict(run, run.name, dataset, None, [PART], *files, out, settings=PredictionSettings(precision="float32"))
    hook.remove()
    found = tables.read(out, PREDICTIONS).sort_by("question_id")
    return torch.cat(scores), found["answer"].to_pylist(), found["p"].to_pylist()


if __name__ == "__main__":
    main()
