"""Choice experiments of any layout, read by a mapping file that says which column is what (README.md beside this)."""
