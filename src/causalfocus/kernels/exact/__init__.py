"""The paper's class: exact oracles, and the certificate within it."""
