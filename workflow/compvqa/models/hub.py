"""Checkpoints of the Hugging Face Hub, fetched before any job that needs them, which then asks no network."""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import snapshot_download

from compvqa.errors import InputError
from compvqa.files import write_json
from compvqa.records.record import sha256

WORDS = ["*.json", "*.txt", "*.model"]  # configurations and tokenizers
WEIGHTS = ("*.safetensors", "pytorch_model*.bin")  # the first kind that there is
ELSEWHERE = ["*/*"]  # the same weights for other libraries


def stage(name: str, revision: str, hub: Path, out: Path) -> dict[str, int]:
    """Have the checkpoint ``name`` in the cache ``hub``, and list its files with their sha256 in ``out`` (JSON).

    What is there already is not fetched again. transformers loads it by its name where ``HF_HUB_CACHE`` is ``hub``,
    offline too (``HF_HUB_OFFLINE``). Gives the number of files and their bytes; a name that the hub does not know, or
    a hub that does not answer, is an :class:`InputError`.
    """
    try:
        for weights in WEIGHTS:
            wanted = [*WORDS, weights]
            folder = Path(
                snapshot_download(
                    name, revision=revision, cache_dir=hub, allow_patterns=wanted, ignore_patterns=ELSEWHERE
                )
            )
            if list(folder.glob(weights)):
                break
    except (OSError, ValueError) as error:  # of huggingface_hub: all its errors are one or the other
        reason = str(error).strip().splitlines()[0]
        raise InputError(
            f"the checkpoint {name} ({revision}) could not be fetched ({type(error).__name__}: {reason}): correct its "
            "name in the config, check the network, or name a folder that holds it."
        ) from None
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    digests = {path.relative_to(folder).as_posix(): sha256(path) for path in files}
    write_json(out, {"name": name, "revision": revision, "commit": folder.name, "files": digests})
    return {"files": len(files), "bytes": sum(path.stat().st_size for path in files)}
