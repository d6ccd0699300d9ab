"""Trained weights, written whole and read with an error that names the file."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file

from compvqa import tables
from compvqa.errors import InputError
from compvqa.tables import remedy


def save_weights(path: Path, weights: Mapping[str, torch.Tensor]) -> None:
    """Write tensors by name as a safetensors file, with the recipe of the running stage."""
    with tables.replacing(path) as temporary:
        kept = {name: value.detach().cpu().contiguous() for name, value in weights.items()}
        save_file(kept, temporary, {tables.RECIPE.decode(): tables.running()})


def load_weights(path: Path | str) -> dict[str, torch.Tensor]:
    """The tensors of a safetensors file by name; where it can't be read, an :class:`InputError`."""
    with _telling(path):
        return load_file(path)


def load_saved(path: Path, named: str) -> Mapping[str, torch.Tensor]:
    """The tensors by name of a state that torch or safetensors saved; no code of a pickle is run. Where it can't be
    read, or holds anything else, an :class:`InputError` calls it ``named``."""
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, EOFError, RuntimeError, ValueError, pickle.UnpicklingError, SafetensorError) as error:
        raise InputError(f"the weights {named} can't be read ({(str(error) or 'cut off').splitlines()[0]}).") from None
    if not isinstance(state, Mapping) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise InputError(f"{named} holds no tensors by name, or other things too: choose a file of weights.")
    return {str(name): value for name, value in state.items()}


def load_metadata(path: Path | str) -> dict[str, str]:
    """What a safetensors file says of its tensors, without these; errors as for :func:`load_weights`."""
    with _telling(path), safe_open(path, framework="pt") as file:
        return file.metadata() or {}


@contextmanager
def _telling(path: Path | str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: run the stage that makes it first.") from None
    except (OSError, SafetensorError) as error:
        why = str(error).splitlines()[0]
        raise InputError(f"{path} is not a readable safetensors file ({why}): {remedy(path)}.") from None
