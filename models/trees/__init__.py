"""Preference trees: growth, leaf values, editing, and the user tree."""
