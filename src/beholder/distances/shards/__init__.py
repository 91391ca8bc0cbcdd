"""Distances of sets that lie in shards: no more than one or two shards, and what is known of them, are held."""
