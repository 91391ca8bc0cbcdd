"""Encoders: from images to feature vectors, with their preprocessing, and features on disk."""
