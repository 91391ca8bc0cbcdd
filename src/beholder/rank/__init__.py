"""From labels and answers to ratings of generators."""
