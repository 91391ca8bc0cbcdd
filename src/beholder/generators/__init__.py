"""Generators: programs, services and folders that turn a prompt into an image, behind one protocol."""
