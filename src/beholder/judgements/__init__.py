"""What answers mean: answers joined with their trials, coded as judgements of images, and the raters' conduct."""
