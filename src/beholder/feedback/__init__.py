"""Rich feedback on images, whoever gave it: scores, heatmaps and misaligned words of people and of models."""
