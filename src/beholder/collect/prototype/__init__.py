"""Prototype rounds: a few raters try a few items of a study and vote before it opens."""
