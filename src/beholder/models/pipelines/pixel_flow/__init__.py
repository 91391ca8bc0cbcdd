"""*Pixel flow*: a small text-conditioned flow-matching network in pixel space, trained on two cores."""
