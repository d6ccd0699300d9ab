"""The whole test-bed in one graph, to be explored by Cypher."""
