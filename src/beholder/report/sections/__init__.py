"""Sections of the page: each puts rows, charts and images together."""
