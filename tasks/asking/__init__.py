"""Studies that ask one question after another."""
