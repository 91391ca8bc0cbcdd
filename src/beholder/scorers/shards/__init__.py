"""Scores of images in shards, by an engine."""
