"""Choosing among entries by several measures: Pareto fronts, utilities, and for which weights each entry wins."""
