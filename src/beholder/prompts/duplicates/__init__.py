"""Prompts that say the same: duplicates, near-duplicates, minimal pairs, paraphrases, overlaps of sets."""
