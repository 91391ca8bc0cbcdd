"""Training on rich feedback: scores, heatmaps and misaligned keywords together."""
