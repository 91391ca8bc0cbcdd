"""Automatic scorers of single images, one file per scorer, all listed in ``catalogue``."""
