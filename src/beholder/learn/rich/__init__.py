"""Learning from rich feedback: scores, heatmaps and misaligned words together."""
