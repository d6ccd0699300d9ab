"""Methods that give m(x, y), a file each: ``scorer(lexicon, models)`` gives ``score(kind, xs, ys)``.

``lexicon`` is the vocabulary's lexicon, ``models`` the folder of trained word filters (None where there is none). A
method whose model has a name of its own gives it by ``model_name(models)``.
"""
