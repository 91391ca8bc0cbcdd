"""Length of the prompt: a confound that a scorer of alignment may have learned instead."""


def prompt_length(prompt: str) -> float:
    """Number of words, split at white space."""
    return float(len(prompt.split()))
