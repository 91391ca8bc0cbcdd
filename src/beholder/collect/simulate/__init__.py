"""Simulated raters, with and without the server."""
