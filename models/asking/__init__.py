"""Active learning: which pair to ask about next, over items and over boxes."""
