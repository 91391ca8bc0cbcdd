"""Weights: where they lie, how they are read and checked, and trained models in folders."""
