"""The HTTP interface, one file per kind of caller."""
