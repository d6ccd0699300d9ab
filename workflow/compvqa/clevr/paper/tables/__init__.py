"""CLEVR's own tables: each a module with ``make(inputs, reference) -> Table``."""
