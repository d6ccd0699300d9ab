"""Methods that give m(x, y), a file each: ``scorer(lexicon, settings)`` gives ``score(kind, xs, ys)``."""
