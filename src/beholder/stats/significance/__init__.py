"""Which groups differ: tests, simultaneous comparisons, sequential separation, power."""

from beholder.stats.late_package import re_export

re_export(__name__, __file__)
