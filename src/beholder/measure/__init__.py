"""Measure: automatic metrics of images, and the agreement of each with the raters."""
