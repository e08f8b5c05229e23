"""Files on disk: digests, archives, and folders that appear whole or not at all."""
