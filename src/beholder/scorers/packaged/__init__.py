"""Scorers whose weights beholder carries, quality, domain shift and alignment, and one of another package."""
