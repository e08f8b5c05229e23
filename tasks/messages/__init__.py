"""The study of patients' messages: the feature loop, the ranking and its scores."""
