"""State dicts as VOLTA makes them, small and of random numbers."""

import io
import json
import tarfile

import torch
from torch.nn import functional

HIDDEN, FED, WORDS, PLACES, REGION, POOLED = 128, 24, 30, 16, 7, 20
HEADS = 4  # over images; the authors have 8
# Like ctrl_vilbert_base.json and ctrl_visualbert_base.json, with 2 text layers and 2 blocks, and with 2 layers.
VILBERT = {
    "tt": [0, 2, 6, 10], "tv": [4, 8], "vt": [4, 8], "vv": [6, 10],
    "t_ff": [1, 3, 5, 7, 9, 11], "v_ff": [5, 7, 9, 11], "shared": [],
}  # fmt: skip
VISUALBERT = dict.fromkeys(("tt", "tv", "vt", "vv"), [0, 2]) | {"t_ff": [1, 3], "v_ff": [1, 3], "shared": [0, 1, 2, 3]}


def made_state(plan):
    """A state dict as VOLTA makes one by the ``plan`` of its sub-layers, of random numbers."""
    torch.manual_seed(0)
    state = {}

    def linear(name, out, size, shared=False):
        text = name.replace("v_", "")  # whose weights are those of both streams where they are shared
        state[f"{name}.weight"] = state[f"{text}.weight"] if shared else torch.randn(out, size) / size**0.5
        state[f"{name}.bias"] = state[f"{text}.bias"] if shared else torch.randn(out) / 9

    def norm(name, shared=False):
        text = name.replace("v_", "")
        state[f"{name}.weight"] = state[f"{text}.weight"] if shared else 1 + torch.randn(HIDDEN) / 9
        state[f"{name}.bias"] = state[f"{text}.bias"] if shared else torch.randn(HIDDEN) / 9

    for name, rows in (("word", WORDS), ("position", PLACES), ("token_type", 2)):
        state[f"bert.embeddings.{name}_embeddings.weight"] = torch.randn(rows, HIDDEN)
    norm("bert.embeddings.LayerNorm")
    if plan["shared"]:
        linear("bert.embeddings.projection", HIDDEN, REGION)
        state["bert.embeddings.token_type_embeddings_visual.weight"] = torch.randn(2, HIDDEN)
        state["bert.embeddings.position_embeddings_visual.weight"] = torch.randn(PLACES, HIDDEN)
    else:
        linear("bert.v_embeddings.image_embeddings", HIDDEN, REGION)
        linear("bert.v_embeddings.image_location_embeddings", HIDDEN, 5)
        norm("bert.v_embeddings.LayerNorm")
    for at in sorted({*plan["tt"], *plan["tv"], *plan["vv"], *plan["t_ff"]}):
        layer = f"bert.encoder.layer.{at}."
        for v in ("", "v_"):
            shared = bool(v) and at in plan["shared"]
            if at in (plan["vt"] + plan["vv"] if v else plan["tt"] + plan["tv"]):
                for part in ("query", "key", "value"):
                    linear(f"{layer}attention_self.{v}{part}", HIDDEN, HIDDEN, shared)
                linear(f"{layer}attention_output.{v}dense", HIDDEN, HIDDEN, shared)
                norm(f"{layer}attention_output.{v}LayerNorm", shared)
            if at in plan["v_ff" if v else "t_ff"]:
                linear(f"{layer}intermediate.{v}dense", FED, HIDDEN, shared)
                linear(f"{layer}output.{v}dense", HIDDEN, FED, shared)
                norm(f"{layer}output.{v}LayerNorm", shared)
    linear("bert.t_pooler.dense", POOLED, HIDDEN)
    linear("bert.v_pooler.dense", POOLED, HIDDEN)
    return state


def by_hand(state, plan, words, features, places, whole=True):
    """The product of the pooled vectors for one text (ids) and one image, sub-layer by sub-layer, in VOLTA's order.

    ``whole``: with a region of the whole image before the others, as VOLTA has it.
    """

    def linear(name, x):
        return x @ state[f"bert.{name}.weight"].T + state[f"bert.{name}.bias"]

    def norm(name, x):
        return functional.layer_norm(x, (HIDDEN,), state[f"bert.{name}.weight"], state[f"bert.{name}.bias"], 1e-12)

    def table(name):
        return state[f"bert.embeddings.{name}.weight"]

    if whole:
        features = torch.cat([features.mean(dim=0, keepdim=True), features])
        places = torch.cat([torch.tensor([[0.0, 0, 1, 1, 1]]), places])
    text = table("word_embeddings")[words] + table("position_embeddings")[: len(words)]
    t = norm("embeddings.LayerNorm", text + table("token_type_embeddings")[0])
    if plan["shared"]:
        kind = table("token_type_embeddings_visual")[1] + table("position_embeddings_visual")[0]
        v = norm("embeddings.LayerNorm", linear("embeddings.projection", features) + kind)
    else:
        seen = linear("v_embeddings.image_embeddings", features)
        v = norm("v_embeddings.LayerNorm", seen + linear("v_embeddings.image_location_embeddings", places))
    for at in range(max(plan["t_ff"]) + 1):
        layer = f"encoder.layer.{at}."
        before = {"t": t, "v": v}
        sides = {"t": "", "v": "v_"}
        for own, prefix in sides.items():
            new = before[own]
            others = [side for side in "tv" if at in plan[own + side]]
            if others:
                keys, values = (
                    torch.cat([linear(f"{layer}attention_self.{sides[side]}{part}", before[side]) for side in others])
                    for part in ("key", "value")
                )
                query = linear(f"{layer}attention_self.{prefix}query", new)
                heads = []
                for head in range(HIDDEN // 64):
                    of = slice(64 * head, 64 * head + 64)
                    heads.append(torch.softmax(query[:, of] @ keys[:, of].T / 8, dim=1) @ values[:, of])
                mixed = linear(f"{layer}attention_output.{prefix}dense", torch.cat(heads, dim=1))
                new = norm(f"{layer}attention_output.{prefix}LayerNorm", mixed + new)
            if at in plan[f"{own}_ff"]:
                fed = functional.gelu(linear(f"{layer}intermediate.{prefix}dense", new))
                new = norm(f"{layer}output.{prefix}LayerNorm", linear(f"{layer}output.{prefix}dense", fed) + new)
            t, v = (new, v) if own == "t" else (t, new)
    return linear("t_pooler.dense", t[0]).relu() * linear("v_pooler.dense", v[0]).relu()


def fine_tuned_state(plan, answers, layers=2):
    """A state dict as COVR's authors' training leaves one: VOLTA's, and what is above it, of random numbers."""
    state = {f"encoder.{name}": value for name, value in made_state(plan).items()}
    sizes = {"encoder.head.logit_fc.0": (9, POOLED), "hidden_layer.0": (2 * POOLED, 5 * POOLED)}
    sizes["classifier_layer"] = answers, POOLED
    for layer in (f"agg_fc.{number}." for number in range(layers)):
        sizes |= {f"{layer}attention.self.{part}": (POOLED, POOLED) for part in ("query", "key", "value")}
        sizes |= {f"{layer}attention.output.dense": (POOLED, POOLED)}
        sizes |= {f"{layer}intermediate.dense": (FED, POOLED), f"{layer}output.dense": (POOLED, FED)}
        for norm in (f"{layer}attention.output.LayerNorm", f"{layer}output.LayerNorm"):
            state |= {f"{norm}.weight": 1 + torch.randn(POOLED) / 9, f"{norm}.bias": torch.randn(POOLED) / 9}
    for name, (out, size) in sizes.items():
        state |= {f"{name}.weight": torch.randn(out, size) / size**0.5, f"{name}.bias": torch.randn(out) / 9}
    return state | {"img_cls_token": torch.randn(POOLED)}


def as_the_authors_do(state, plan, texts, shown, images=5):
    """Scores [questions, answers] of ``texts`` (ids) and what is ``shown`` with each, features and places [images,
    regions, …], question by question: it is asked of ``images`` images, zeros where it has none, and all are attended
    to."""

    def linear(name, x):
        return x @ state[f"{name}.weight"].T + state[f"{name}.bias"]

    def norm(name, x):
        return functional.layer_norm(x, (POOLED,), state[f"{name}.weight"], state[f"{name}.bias"], 1e-12)

    volta = {name.removeprefix("encoder."): value for name, value in state.items()}
    scores = []
    for words, (features, places) in zip(texts, shown, strict=True):
        if images == 1:  # of the text-only baseline
            features, places = features[:0], places[:0]
        features = torch.cat([features, torch.zeros(images - len(features), *features.shape[1:])])
        places = torch.cat([places, torch.zeros(images - len(places), *places.shape[1:])])
        seen = [by_hand(volta, plan, words, *image, whole=False) for image in zip(features, places, strict=True)]
        rows = torch.stack([state["img_cls_token"], *seen])
        for layer in ("agg_fc.0.", "agg_fc.1."):
            query, key, value = (linear(f"{layer}attention.self.{part}", rows) for part in ("query", "key", "value"))
            mixed = []
            for of in torch.arange(POOLED).chunk(HEADS):
                looked = torch.softmax(query[:, of] @ key[:, of].T / len(of) ** 0.5, dim=1)
                mixed.append(looked @ value[:, of])
            mixed = linear(f"{layer}attention.output.dense", torch.cat(mixed, dim=1))
            rows = norm(f"{layer}attention.output.LayerNorm", mixed + rows)
            fed = linear(f"{layer}output.dense", functional.gelu(linear(f"{layer}intermediate.dense", rows)))
            rows = norm(f"{layer}output.LayerNorm", fed + rows)
        scores.append(linear("classifier_layer", rows[0]))
    return torch.stack(scores)


CONFIG = {
    "type": "volta",
    "max_seq_length": 16,
    "num_images": 5,
    "pretrained_model_config": "ctrl_visualbert_base.json",
}
CONFIG |= {"classifier_transformer_layers": 2, "classifier_transformer_layers_cls": True}


def archived(path, state, labels, **changed):
    """An archive as AllenNLP writes one when a training ends, of the net ``state`` and its answers; some of its files
    ``changed``, or left out (None)."""
    saved = io.BytesIO()
    torch.save(state, saved)
    files = {"config.json": json.dumps({"model": CONFIG, "trainer": {"num_epochs": 8}}), "weights.th": saved.getvalue()}
    files |= {"vocabulary/labels.txt": "".join(f"{label}\n" for label in labels), "meta.json": '{"version": "2.4.0"}'}
    files |= {"vocabulary/non_padded_namespaces.txt": "*tags\n*labels\n", "vocabulary/.lock": ""}
    files |= {"metrics.json": json.dumps({"epoch": 7, "accuracy": 0.6923523436366275})} | changed
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            if content is not None:
                data = content if isinstance(content, bytes) else content.encode()
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return path
