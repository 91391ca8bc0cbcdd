"""Gaussian processes on frozen features: scores by likeness to a few thousand rated images."""
