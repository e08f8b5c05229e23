"""Sections about patients' messages."""
