"""Length of the prompt: what a scorer of alignment may have learnt instead."""


def prompt_length(prompt: str) -> float:
    """Words, cut at white space."""
    return float(len(prompt.split()))
