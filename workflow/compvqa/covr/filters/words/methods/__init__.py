"""Methods that give m(x, y), a file each: ``scorer(kind, given)`` gives ``score(xs, ys)`` for the names of a kind.

``given`` is what a method may look at (:class:`compvqa.covr.filters.words.overlap.Knowledge`). A method whose model has
a name of its own gives it by ``model_name(kind, given)``.
"""
