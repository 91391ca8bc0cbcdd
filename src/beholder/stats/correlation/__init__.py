"""Correlation of metrics with raters: coefficients, their intervals, pair accuracy, baselines and ceilings."""
