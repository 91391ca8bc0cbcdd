"""Transfer between the tables of the study and the database of the server; deletion of raters in both."""
