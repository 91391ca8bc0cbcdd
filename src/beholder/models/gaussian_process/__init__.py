"""Gaussian processes on frozen features: scores by similarity to a few thousand rated images."""
