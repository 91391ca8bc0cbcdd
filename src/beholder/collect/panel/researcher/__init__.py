"""What a researcher sees of a panel, and decides in it."""
