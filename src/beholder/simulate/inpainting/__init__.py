"""Inpainters of the synthetic world, which know what an image would look like without its flaws."""
