"""COVR's engine: what is this paper's alone, its language of programs first."""
