"""COVR's own commands."""

from __future__ import annotations

import typer

from compvqa.cli.options import add


def add_to(app: typer.Typer) -> None:
    """Add them to the command line, in the order of the chain."""
    from compvqa.covr.cli import data, graphs, images, judging, pretraining, risk, words

    add(app, data.subgraphs, data.overlap, data.candidates, data.related, data.questions, data.gather_questions)
    add(app, risk.risk_labels, risk.risk, data.balance, data.read_questions)
    add(app, words.word_pairs, words.word_labels, words.word_released, words.word_filter)
    add(app, words.word_scores, words.annotate)
    add(app, images.image_examples, images.image_filter, images.presence, images.others, images.image_labels)
    add(app, images.image_scores, images.thresholds)
    add(app, pretraining.pretrain, judging.statistics, judging.validity)
    add(app, judging.distractors, judging.filters, judging.judge, graphs.load_neo4j, graphs.export_neo4j)
