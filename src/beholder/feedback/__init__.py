"""Rich feedback on images, by raters or models: scores, heatmaps and misaligned keywords."""
