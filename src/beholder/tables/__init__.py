"""The tables between the parts: their schemas, and reading, writing and checking them as Parquet."""
