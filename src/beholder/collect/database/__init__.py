"""The database of a running study: its schema, migrations, transactions and clock."""
