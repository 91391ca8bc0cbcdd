"""Which differences are significant: tests, corrections for several of them, ranges of ranks, sample sizes."""
