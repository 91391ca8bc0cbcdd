"""From findings to better images, with proof: filter, repair, guide, tune, words."""
