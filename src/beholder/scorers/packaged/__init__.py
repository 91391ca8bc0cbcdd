"""Scorers whose weights beholder carries: quality, domain shift, alignment."""
