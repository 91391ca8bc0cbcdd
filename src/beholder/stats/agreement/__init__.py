"""Inter-rater agreement, with confidence intervals over raters."""

from beholder.stats.late_package import re_export

re_export(__name__, __file__)
