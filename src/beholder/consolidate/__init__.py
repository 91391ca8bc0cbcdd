"""From many answers to labels."""
