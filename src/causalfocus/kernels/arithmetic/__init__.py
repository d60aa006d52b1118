"""Numbers: sums of two doubles, factors of matrices, sets of nodes as bits."""
