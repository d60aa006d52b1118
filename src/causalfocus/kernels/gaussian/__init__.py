"""The certificate for Gaussian systems, without bounds that anyone must believe in."""
