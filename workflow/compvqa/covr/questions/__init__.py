"""COVR's questions: templates over subgraphs and their related images (COVR, section 3.3)."""
