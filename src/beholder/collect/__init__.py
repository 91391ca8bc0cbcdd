"""Collecting answers."""
