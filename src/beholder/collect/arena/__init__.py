"""The live arena: blind pairs of entries, votes, a reveal afterwards, and a board for any time."""
