"""Published claims: what decides each of them, and what the latest runs say of it."""
