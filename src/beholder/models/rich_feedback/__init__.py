"""The rich-feedback model: heatmaps, misaligned keywords and four scores of an image, after RAHF."""
