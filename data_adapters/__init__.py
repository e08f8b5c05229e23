"""One module a data set: raw upstream files to a pairwise table in Parquet."""
