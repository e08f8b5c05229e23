"""Pairwise tables as arrays and as batches."""
