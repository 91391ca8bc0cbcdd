"""The questions of the job survey: the five characteristics of work by Hackman and Oldham, two questions each.

They are adapted from the Job Diagnostic Survey (Hackman and Oldham 1974), which is in the public domain, and
worded for judging images. The second question of each pair is reversed. The texts are with those of the pages.
"""

CHARACTERISTICS = ("variety", "identity", "significance", "autonomy", "feedback")
"""Skill variety, task identity, task significance, autonomy, feedback from the work itself."""

REVERSED = "reversed"
SURVEY_KEYS = tuple(f"{name}{suffix}" for name in CHARACTERISTICS for suffix in ("", f"-{REVERSED}"))
"""Names of the questions, in the order in which they are asked."""

POINTS = 7
