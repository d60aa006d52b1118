"""Sums of products over samples, and what a model says they will be."""
