"""Predictions beside raters: calibration, conformal widths, prediction-powered inference, heatmaps."""

from beholder.stats.late_package import re_export

re_export(__name__, __file__)
