"""Distances between two sets of feature vectors: one file per distance, all listed in ``catalogue``."""
