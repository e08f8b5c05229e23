"""Simulators of raw files that are too long for the adapter's module."""
