"""Models trained by `beholder learn` as scorers, and how unlike their training images others are."""
