"""A rater's session: from the link they follow to the code they leave with."""
