"""Detectors of objects whose weights come as packages."""
