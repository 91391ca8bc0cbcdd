"""Adversarial rounds: claims that a model fails, verified by others, credited, and trained on."""
