"""Training on adversarial rounds: their claims as pairs, and the models of all rounds side by side."""
