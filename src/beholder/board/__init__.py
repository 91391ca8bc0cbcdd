"""The board: every measure of every entry, by slice, with confidence intervals over prompts and raters."""
