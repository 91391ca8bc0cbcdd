"""The figures of a trained model: what they hold, on pairs, on ratings and on soft labels."""
