"""CLEVR-HOPE: what is made for a held-out pair of attribute values, by CLEVR's own generator."""
