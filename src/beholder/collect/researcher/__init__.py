"""What the researcher sees and does while people take part."""
