"""Marks on a board: checks of the board itself that an entry or a measure does not pass, each with its test."""
