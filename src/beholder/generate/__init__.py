"""The generate stage: images from prompts, by any generator, each with its row."""
