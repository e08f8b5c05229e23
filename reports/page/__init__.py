"""A page and how it is written: blocks, HTML, PDF, typefaces, the index, and what every report shows."""
