"""Sections about asking one question after another."""
