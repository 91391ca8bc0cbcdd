"""Confidence intervals: raters resampled, closed forms, and sequences that hold at every look."""
