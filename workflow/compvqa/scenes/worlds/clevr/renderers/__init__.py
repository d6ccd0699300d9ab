"""Renderers of CLEVR's scenes, found by name: a module with ``draw``."""
