"""Folders in object storage: S3 and what speaks its protocol, Google Cloud Storage, Azure."""
