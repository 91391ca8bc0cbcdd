"""Images as raters see them, encoded once in advance."""
