"""Statistics of many raters' answers: arrays in, frozen estimates with confidence intervals out."""
