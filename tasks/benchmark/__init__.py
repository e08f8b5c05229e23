"""The benchmark study: models that search the maximum of a function by asking about pairs of points (dt-pbo 4.1, F)."""
