"""Truth inference: the labels and opinions behind many raters' answers, and raters who stray from them."""
