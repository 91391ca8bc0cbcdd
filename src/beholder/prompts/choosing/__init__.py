"""Choosing prompts: balanced by category, covering as many tags as possible, with a part held out."""
