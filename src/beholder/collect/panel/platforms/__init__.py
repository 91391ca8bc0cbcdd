"""What pays raters: Prolific, MTurk, and lists for a bank or for a platform's own page."""
