"""Statistics on data frames: named columns in, frozen tables with confidence intervals out."""

from beholder.stats.late_package import re_export

re_export(__name__, __file__)
