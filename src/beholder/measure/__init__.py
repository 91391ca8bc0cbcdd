"""Measure: automatic metrics of images, and how far each agrees with people."""
