"""All that is remembered of the samples: sums per row, now and as they stood at earlier times."""
