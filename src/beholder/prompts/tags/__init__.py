"""Tags by rule: what a prompt asks for (counts, colours, relations, text …), each with the words that show it."""
