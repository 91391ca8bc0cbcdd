"""A benchmark from prompts to board, its lock, and its rebuilding."""
