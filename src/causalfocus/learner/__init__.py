"""Learners: ask, tell, and what is kept in between."""
