"""What the adapters share on the way in: describing, finding, fetching, simulating and strictly reading raw files."""
