"""Showing results: pictures with matplotlib, tables with rich."""
