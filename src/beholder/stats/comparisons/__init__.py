"""Ratings from comparisons: Bradley–Terry, Thurstone, Plackett–Luce; which pair to ask about next."""

from beholder.stats.late_package import re_export

re_export(__name__, __file__)
