"""A file of weights that can't be read is named."""

import pytest
import torch
from safetensors.torch import save_file

from compvqa.errors import InputError
from compvqa.weights import load_metadata, load_weights


def test_weights_and_what_is_said_of_them_come_back(tmp_path):
    save_file({"w": torch.arange(3)}, tmp_path / "w.safetensors", metadata={"words": "a b"})
    assert load_weights(tmp_path / "w.safetensors")["w"].tolist() == [0, 1, 2]
    assert load_metadata(tmp_path / "w.safetensors") == {"words": "a b"}


@pytest.mark.parametrize("data", [b"", b"{}", b"\x10" + b"\x00" * 7 + b"{", b"\xff" * 64])
@pytest.mark.parametrize("read", [load_weights, load_metadata])
def test_a_broken_file_is_named(tmp_path, data, read):
    (tmp_path / "w.safetensors").write_bytes(data)
    with pytest.raises(InputError, match=r"w\.safetensors is not a readable safetensors file .* correct the path\.$"):
        read(tmp_path / "w.safetensors")
    (tmp_path / "w.safetensors.prov.json").touch()  # a file of ours
    with pytest.raises(InputError, match=r"w\.safetensors is not a readable safetensors file .* run again\.$"):
        read(tmp_path / "w.safetensors")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"w\.safetensors does not exist"):
        load_weights(tmp_path / "w.safetensors")
