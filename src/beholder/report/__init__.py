"""The report: one HTML page of findings, leaderboards, raters and metrics."""
