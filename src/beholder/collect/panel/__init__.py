"""A panel: raters who come again, their history over studies, reputations, pay and a say in its rules."""
