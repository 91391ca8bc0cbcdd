"""Sections of the page: each combines rows, charts and images."""
