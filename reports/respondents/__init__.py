"""Sections about trees of respondents."""
