"""Methods that score the presence of subgraphs in images, one module each."""
