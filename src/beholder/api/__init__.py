"""What chains stages: the loop, the demo, scoring and explaining; the functions behind ``beholder.*``."""
