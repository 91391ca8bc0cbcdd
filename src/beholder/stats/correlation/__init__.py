"""Correlation of metrics with raters: coefficients, confidence intervals, comparisons, bounds."""

from beholder.stats.late_package import re_export

re_export(__name__, __file__)
