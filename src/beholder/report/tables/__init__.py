"""What the report reads from the tables: boards, raters, comparisons and the rest as frozen rows."""
