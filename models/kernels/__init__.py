"""GPM, C-GPM and UPM: kernel models of preferences, and the search for their hyperparameters."""
