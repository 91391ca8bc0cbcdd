"""Images: where they come from, how they are decoded, resized and encoded for display; without torch."""
