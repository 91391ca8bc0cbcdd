"""*Painted*: a generator of the synthetic world that can be changed, with the exact ground truth after any change."""
