"""Hashing, counting, minimising and validation: what the models are computed with."""
