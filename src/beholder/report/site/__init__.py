"""The page itself: templates, look, scripts, and images carried inside it."""
