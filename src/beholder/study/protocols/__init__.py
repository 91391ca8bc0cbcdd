"""The protocols, one file each: presets of questions with the published defaults."""
