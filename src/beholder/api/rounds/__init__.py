"""Adversarial rounds of a study: what others may see, and the study in which they verify claims blind."""
