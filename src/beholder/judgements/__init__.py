"""What an answer means: answers beside their trials, as judgements of images, and how raters went about them."""
