"""The HTTP server: its application, what guards it, and how it starts."""
