"""Simulated data of the shapes of the studies, whose truths are known."""
