"""The page of each study, one module a study."""
