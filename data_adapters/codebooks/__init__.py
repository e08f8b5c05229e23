"""What the codes in raw files mean, where there are too many to list them in the adapter."""
