"""Sections about duels: scores, published protocols, explanations."""
