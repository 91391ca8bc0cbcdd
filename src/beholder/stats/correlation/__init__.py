"""Correlation of metrics with raters: coefficients, confidence intervals, pair accuracy, baseline and ceiling."""
