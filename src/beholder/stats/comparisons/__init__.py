"""Ratings from comparisons: Bradley–Terry, Plackett–Luce, Thurstone, and which pair to ask about next."""
