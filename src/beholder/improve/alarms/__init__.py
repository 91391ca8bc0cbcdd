"""Alarms: what shows that a scorer is being exploited, while its own score still rises."""
