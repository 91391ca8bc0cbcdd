"""New prompts from seed prompts: counterfactual pairs by swaps and templates, variations, or a command of the
user's.
"""
