"""The results of studies: names of files, columns and variants that tasks and reports share, and their records."""
