"""A page and its output: blocks, HTML, PDF, typefaces, the index, and the parts that all reports share."""
