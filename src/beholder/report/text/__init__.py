"""Wording of the report: names of measures, counts with their nouns, lists."""
