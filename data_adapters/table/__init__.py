"""The pairwise table: its Arrow schemas, its checks, and the folder of Parquet files it lives in."""
