"""Sections of the report of the benchmark study."""
