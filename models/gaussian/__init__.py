"""Laplace approximations of probit models, and the preferential Gaussian process."""
