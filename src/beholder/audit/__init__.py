"""The audit verb: gaps between slices, bias, faults of scorers and labels, cost, and what practitioners choose."""
