"""Studies of duels: kernel models, their scores and their explanations."""
