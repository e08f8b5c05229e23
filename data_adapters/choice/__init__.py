"""Choice experiments of any layout, read with a mapping file that describes their columns (see README.md here)."""
