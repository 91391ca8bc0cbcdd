"""Prompts as numbers: tokens, vocabularies, sentences as vectors."""
