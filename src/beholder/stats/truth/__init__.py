"""One label or opinion per item from many raters, and whose answers stray."""

from beholder.stats.late_package import re_export

re_export(__name__, __file__)
