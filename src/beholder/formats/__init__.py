"""Other people's data: their files from our tables, and our tables from their files."""
