"""Automatic judges of one image that need no training, each in a file of its own."""
