"""The schemas, one file for each stage that writes them."""
