"""Cleaning prompts of style words, by rules or by a command of the user's; every cut is recorded."""
