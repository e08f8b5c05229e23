"""The index over all runs, and the table of published claims."""
