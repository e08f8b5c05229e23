"""One module a data set: where the raw files come from, how to read them, how to simulate them.

Shared by them: `source` (describing, finding, fetching, reading raw files), `table` (the pairwise table they all end
in) and `files` (digests, archives, folders that appear whole). `codebooks` and `simulators` hold what would make an
adapter too long to be read at one go.
"""
