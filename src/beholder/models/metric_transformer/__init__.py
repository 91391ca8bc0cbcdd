"""The Metric Transformer (AAPMT): all metrics of an image at once."""
