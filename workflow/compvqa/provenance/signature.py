"""Signatures of manifests by OpenSSH (ssh-keygen): who vouches for a run."""

from __future__ import annotations

import subprocess
from pathlib import Path

from compvqa import tables
from compvqa.errors import InputError
from compvqa.provenance.manifest import MANIFEST, SIGNATURE

NAMESPACE = "compvqa"  # what is signed: a signature for another purpose does not count


def sign(folder: Path, key: Path) -> Path:
    """Sign the manifest in a test-bed's ``folder`` with a private key, or a public one of an agent; the signature."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        raise InputError(f"{folder} has no {MANIFEST} to sign: run the workflow to its end.")
    done = _keygen("sign", "-n", NAMESPACE, "-f", str(key), given=manifest)
    if done.returncode:
        raise InputError(f"{manifest} could not be signed with {key}: ssh-keygen says {_said(done)!r}.")
    with tables.replacing(folder / SIGNATURE) as temporary:
        temporary.write_bytes(done.stdout)
    return folder / SIGNATURE


def signer(folder: Path, trusted: Path, identity: str | None = None) -> str:
    """Whose signature the manifest in ``folder`` has, by a file of allowed signers.

    Without ``identity``, the first of the file whose key it is. :class:`InputError` where there is none, the key is not
    in the file, or the manifest is another than was signed.
    """
    manifest, signature = folder / MANIFEST, folder / SIGNATURE
    for path in (manifest, signature, trusted):
        if not path.is_file():
            raise InputError(f"{path} is not there: without it nobody vouches for {folder}.")
    known = ("-s", str(signature), "-f", str(trusted))
    if identity is None:
        found = _keygen("find-principals", *known)
        if found.returncode:
            raise InputError(f"{signature} is of nobody whom {trusted} names: do not trust {folder}, or add the key.")
        identity = found.stdout.decode().splitlines()[0].split(",")[0]
    done = _keygen("verify", "-n", NAMESPACE, "-I", identity, *known, given=manifest)
    if done.returncode:
        raise InputError(f"{signature} is no signature of {manifest} by {identity}: ssh-keygen says {_said(done)!r}.")
    return identity


def _keygen(what: str, *arguments: str, given: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["ssh-keygen", "-Y", what, *arguments],
            input=given.read_bytes() if given else b"",
            capture_output=True,
        )
    except FileNotFoundError:
        raise InputError("ssh-keygen is not installed here: OpenSSH 8.2 or later has it; install it.") from None


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    return " ".join((done.stderr or done.stdout).decode(errors="replace").split())
