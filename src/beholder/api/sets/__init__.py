"""Sets of images that are compared without a study: encoded, here or by an engine, and their distances."""
