"""Functions that stand in for a decision maker in benchmarks, and how rugged they are."""
