"""Generators that can be run here, and trained: pipelines of diffusers."""
