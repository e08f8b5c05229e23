"""One flow a study."""
