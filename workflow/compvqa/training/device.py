"""Where and how precisely models are computed, and how far their results repeat."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import Any

import torch

WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"


def device() -> torch.device:
    """This process's GPU, the first one that is visible unless it shares the work with others; else the processor."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def in_bfloat16(precision: str) -> bool:
    """Whether layers compute in bfloat16 by the setting ``precision``: ``auto`` says so where a GPU is."""
    return precision == "bfloat16" or (precision == "auto" and torch.cuda.is_available())


def narrowed(precision: str) -> AbstractContextManager:
    """Inside, layers compute by the setting ``precision`` (mixed precision: weights stay as they are)."""
    return torch.autocast(device().type, torch.bfloat16, enabled=in_bfloat16(precision))


def set_deterministic(on: bool = True) -> None:
    """Let torch use deterministic algorithms alone, or, where ``on`` is False and a GPU is there, also faster ones
    whose last bits vary from run to run. On a processor results repeat either way.

    Call it before anything is computed on a GPU. CUDA_LAUNCH_BLOCKING is left alone, which since CUDA 10.2 changes no
    result and takes the overlap of kernels and Python from every step; transformers' ``full_determinism`` sets it.
    """
    on = on or not torch.cuda.is_available()
    if on:
        os.environ.setdefault(WORKSPACE, ":4096:8")  # cuBLAS repeats its sums only with a workspace of fixed size
    torch.set_deterministic_debug_mode("error" if on else "default")  # torch's other switch imports its compiler
    torch.backends.cudnn.deterministic = on
    torch.backends.cudnn.benchmark = False
    filling: Any = torch.utils.deterministic  # which declares no attribute
    filling.fill_uninitialized_memory = False  # nothing here reads what it has not written
