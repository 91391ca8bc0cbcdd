"""Signal detection, psychometric functions and staircases."""
