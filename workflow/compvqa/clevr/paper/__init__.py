"""CLEVR's own tables and figures (Johnson et al., CVPR 2017)."""
