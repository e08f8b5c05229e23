"""The table of published claims as a document of its own."""
