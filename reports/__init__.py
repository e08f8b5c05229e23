"""Results to tables and figures, to one HTML page and one PDF of the same content."""
