"""Replications: a study repeated from its lock, with the same answers or with fresh raters; and planning one."""
