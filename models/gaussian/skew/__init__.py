"""Utilities under comparisons that hardly err: a skew Gaussian process (Takeno et al. 2023)."""
