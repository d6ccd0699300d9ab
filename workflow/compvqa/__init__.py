"""compvqa: test-beds, models and scores for compositional generalization in visual question answering."""

import os

__version__ = "0.1.0"

# Packages of the user's own, beside his config: ``plugins/mine/models/net.py`` is the model ``mine.net``.
__path__ += [folder for folder in os.environ.get("COMPVQA_PLUGINS", "").split(os.pathsep) if folder]
