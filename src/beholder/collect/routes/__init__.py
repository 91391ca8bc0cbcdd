"""The HTTP interface, one file for each kind of caller."""
