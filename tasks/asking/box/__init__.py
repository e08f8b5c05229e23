"""Asking a person, or a program, about settings of numeric features: what is asked, and what was answered."""
