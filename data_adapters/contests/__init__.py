"""Contests in delimited tables: an adapter from a description, with a reader and a simulator that all of them share."""
