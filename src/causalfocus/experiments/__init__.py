"""Monte-Carlo experiments: the paper's settings and methods, in units of work that are files."""
