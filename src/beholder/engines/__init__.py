"""Where work on many shards is done: in this process, or by the workers of a Ray cluster."""
