"""Prompt sets: reading, normalising, duplicates, cleaning, checks, tags, choosing, and new prompts (no torch)."""
