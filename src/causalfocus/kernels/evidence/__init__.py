"""What one row says: its fit, its marginal likelihoods, and evidence against a coefficient."""
