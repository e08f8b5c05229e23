"""One module a data set: where the raw files come from, how to read them, how to simulate them.

Shared by them: `source` (describing, finding, fetching, reading raw files), `table` (the pairwise table they all end
in) and `files` (digests, folders that appear whole).
"""
