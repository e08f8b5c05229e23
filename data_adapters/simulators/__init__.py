"""Generators of simulated raw files, where they are too long to stand in the adapter."""
