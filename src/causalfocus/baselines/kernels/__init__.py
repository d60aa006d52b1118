"""Compiled parts of the baselines: arrays and scalars in and out."""
