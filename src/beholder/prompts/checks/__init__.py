"""What a prompt should be looked at for: contradictions, language, named persons, quoted text, words of a list."""
