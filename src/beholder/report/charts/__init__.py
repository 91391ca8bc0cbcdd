"""The charts, one a file."""
