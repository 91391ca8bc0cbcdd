"""Confidence intervals over raters, over raters and images, and at every look."""

from beholder.stats.late_package import re_export

re_export(__name__, __file__)
