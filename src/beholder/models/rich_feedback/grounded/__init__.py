"""A rich-feedback model that grounds each word of the prompt in the image: its own map, position and evidence."""
