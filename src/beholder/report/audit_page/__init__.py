"""The page of the audits: findings in words first, then every figure with its interval."""
