"""compvqa: test-beds, models and scores for compositional generalization in visual question answering."""

__version__ = "0.1.0"
