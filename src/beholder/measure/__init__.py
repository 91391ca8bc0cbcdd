"""Measure: automatic metrics of images, and the agreement of each with the raters.

The package can be called: ``beholder.measure(study)`` is ``beholder.api.measuring.measure``.
"""
