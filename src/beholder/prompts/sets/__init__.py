"""Readers of published prompt sets and of the user's own files; a catalogue with versions and licences."""
