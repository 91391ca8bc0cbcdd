"""Networks that are fine-tuned to raters' scores, averaged with Metric Transformers on frozen features."""
