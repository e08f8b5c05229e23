"""The synthetic matches of pref-shap: the two files, their columns, and the covariate that decides each match."""

from __future__ import annotations

ITEM_FILE, MATCH_FILE = "items.csv", "matches.csv"

CLUSTERS = ("A", "B", "C")
COVARIATES = {"within": "x[0]", "between_ab": "x^AB", "between_ac": "x^AC", "between_bc": "x^BC"}
"""Each covariate, with its symbol in the paper."""
DECIDES = (
    ("within", "between_ab", "between_ac"),
    ("between_ab", "within", "between_bc"),
    ("between_ac", "between_bc", "within"),
)
"""The covariate that decides a match, by the clusters of its two items."""

ITEM_COLUMNS = ("item", *COVARIATES, "cluster")
MATCH_COLUMNS = ("first", "second", "winner")
