"""One module a data set: its description, and how its raw files are read and simulated."""
