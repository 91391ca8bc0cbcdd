"""Statistics of many people's answers: arrays in, frozen estimates with intervals out."""
