"""Learning the maximum of a utility over the unit cube by asking about pairs of its points (dt-pbo section 4.1)."""
