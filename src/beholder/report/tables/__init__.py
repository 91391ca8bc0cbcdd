"""What the report reads from the tables: leaderboards, raters, comparisons and the rest as frozen rows."""
