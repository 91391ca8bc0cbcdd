"""Simulated panels with known truth: raters with speed, skill, drift and lies, against whom care is tested."""
