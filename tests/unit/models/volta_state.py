"""State dicts as VOLTA makes them, small and of random numbers."""

import torch

HIDDEN, FED, WORDS, PLACES, REGION, POOLED = 128, 24, 30, 16, 7, 20
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
