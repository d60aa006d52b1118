"""Sums over all DAGs: how probable a graph, a family, an edge is."""
