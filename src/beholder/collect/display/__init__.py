"""Images as raters see them: encoded once, before anyone asks for them."""
