"""CLEVR: questions about one scene of simple things, made from templates by search (Johnson et al., 2017)."""
