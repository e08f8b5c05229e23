"""One module a data set: where the raw files come from, how to read them, how to simulate them.

They share `source` (describing, finding, fetching and reading raw files), `table` (the pairwise table that each of
them makes) and `files` (digests, archives, folders that appear whole). `codebooks` and `simulators` hold the columns,
codes and generators of the longer adapters.
"""
