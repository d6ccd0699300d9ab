"""Models, a module each, found by name: nothing lists them.

A model that is trained on questions (``models.trained``; ``config/models/<name>.yaml`` names its module) is a module
``compvqa/models/<model>.py`` with

``ModelSettings``
    its settings (:class:`compvqa.settings.Settings`), among them ``longest``, the most tokens of a text that it reads.
    One that sees images has ``images`` too, ``seen`` or ``zeroed``: the latter is its text-only baseline.
``build(settings, task) -> torch.nn.Module``
    a new net with random or released weights, for the words, answers and features that ``task``
    (:class:`compvqa.models.task.Task`) tells. Training and prediction both call it; where it draws, torch is seeded.

The net's ``forward`` takes the columns of a batch by name (:func:`compvqa.training.data.collate`) and gives a
dictionary with ``logits`` [B, answers] and, where it is given ``labels`` [B], their ``loss``, a scalar. One that takes
``picture_of`` can be trained with ``order: pictures``, questions about one picture side by side: it then gets each
picture once, and no ``question_of``.

What a module may have besides:

``READS = ("regions", "programs")``
    what it reads besides the texts, as a literal, which the workflow reads without importing the module. ``regions``:
    those of its images, or their grids; ``pooled`` in its place: one vector of each whole image, which comes as its
    only region. Without either a model is trained and asked without features, and has no text-only baseline beside it.
    ``programs``: those of the train and dev questions. Prediction never reads them. ``own_programs``: that of each
    question, at training and at prediction (gold programs): such a model is told what is asked, and has to see.
``encoder(task) -> Callable[[str], numpy.ndarray]``
    of a model that reads ``own_programs``: what makes rows of numbers [P, C], int64 and none of them all 0, of a
    program in JSON. The net gets those of a batch, with rows of 0 below, as ``programs`` [B, P, C].
``tokenizer(settings) -> tokenizers.Tokenizer | None``
    that of its released weights; None, or no such function: one of the words in the train questions.
``survey(questions) -> dict``
    what ``build`` must know of the train questions (:class:`compvqa.training.data.Questions`) besides words and
    answers, as JSON: ``task.survey``. It is kept beside the weights.
``optimizer(net, settings) -> torch.optim.Optimizer``
    its own optimiser and groups of parameters, by :class:`compvqa.training.settings.OptimisationSettings`; the schedule
    scales the rate of each group. Default: AdamW. Parameters whose names do not begin with one of ``net.new``, a tuple
    (default: all are new), are pretrained and have a rate of their own.
``train(job) -> dict[str, float]``
    its own training, in phases or by a loop of its own (:class:`compvqa.training.job.Job`). It leaves the net's weights
    in ``job.out/model.safetensors`` and its course in ``job.out/history.parquet``, and gives ``steps`` and
    ``accuracy``. Default: one phase on the answers.
``Backbone``
    the part for one image and its text (:mod:`compvqa.models.backbone`). A model that has one can be pretrained to
    match images and subgraphs, and be the image filter. Its net has ``start_from(weights, words)``.

A model without training (``models.baselines``) is a module with ``COLUMNS`` and ``predict``, and, where it looks at
scene graphs, ``READS = ("scenes",)``
(:mod:`compvqa.models.baseline`).
"""
