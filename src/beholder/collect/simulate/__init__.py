"""Simulated raters: directly on the tables, or through the HTTP interface of the server."""
