"""The page itself: templates, theme, scripts, and embedded images."""
