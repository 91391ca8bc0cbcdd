"""Between the tables of the study and the database of the server."""
