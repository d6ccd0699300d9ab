"""Models that know CLEVR's functions, named ``clevr.<model>`` in ``config/models``."""
