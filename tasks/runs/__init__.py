"""A run: its config, folder, tables, results, record and publication."""
