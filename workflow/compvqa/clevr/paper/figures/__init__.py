"""CLEVR's own figures: each a module with ``make(inputs, reference) -> Figure``."""
