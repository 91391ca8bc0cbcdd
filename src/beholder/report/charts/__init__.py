"""The charts of the report, one module per kind of chart."""
