"""The kinds of questions, one file each."""
