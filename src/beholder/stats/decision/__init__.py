"""Choosing among entries by several measures: Pareto fronts, utilities, and the weights for which each entry wins."""
