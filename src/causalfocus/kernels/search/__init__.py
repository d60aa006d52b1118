"""Exact searches: coefficients of a row, families of a node, orders of all nodes."""
