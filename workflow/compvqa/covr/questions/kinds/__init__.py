"""Kinds of templates, one module each: it drafts questions from a seed, ``drafts(template, variant, seed, rng)``."""
