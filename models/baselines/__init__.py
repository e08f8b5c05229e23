"""Plain models that stand beside the preference models: what a reader would try first."""
