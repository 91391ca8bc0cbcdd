"""*Painted*: a generator that can be changed, with the exact ground truth of its images after any change."""
