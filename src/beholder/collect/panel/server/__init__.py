"""One server for a panel: its own pages, and those of every study that is open in it."""
