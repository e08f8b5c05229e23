"""Files on disk, whatever they hold: their digests, and folders that appear whole or not at all."""
