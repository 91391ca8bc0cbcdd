"""The researcher's page: overview, raters, results and actions while a study runs."""
