"""Image files: what is opened, and how images are encoded for display."""
