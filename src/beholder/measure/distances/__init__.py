"""Distances between two sets of feature vectors: one file a distance, all listed in ``catalogue``."""
