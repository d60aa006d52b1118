"""Measuring speed and memory, side by side in one run; no test depends on a clock."""
