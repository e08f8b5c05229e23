"""The claims of the papers: one module for each study, and one for what no study tests. Each has `CLAIMS`."""
