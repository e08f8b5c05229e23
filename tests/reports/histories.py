"""Made-up courses of users with and without the answers of earlier ones, and their differences."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd


def history() -> pd.DataFrame:
    frames = []
    for table, again, way in product(("sushi", "sushi_b"), (False, True), ("with_history", "without_history")):
        start = 2.0 if way == "with_history" else 4.0
        regret = start * np.exp(-np.arange(21) / 15)
        frames.append(
            pd.DataFrame(
                {
                    "table": table, "asked_again": again, "way": way, "question": np.arange(21), "users": 350,
                    "rho_regret": regret, "rho_regret_sd": 1.2, "top1_error": regret, "top1_error_sd": 1.5,
                    "found_share": 1 - regret / 5, "tied_favourite": regret / 4,
                }
            )
        )  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def history_differences() -> pd.DataFrame:
    """With minus without; the interval of the regret excludes zero until question 10, that of the others never does."""
    rows = []
    for table, again, question in product(("sushi", "sushi_b"), (False, True), range(21)):
        for measure, estimate in (("rho_regret", -1.0), ("top1_error", -0.5), ("found_share", -0.1)):
            reach = 0.2 if measure == "rho_regret" and question < 10 else 3.0
            rows.append(
                {
                    "table": table, "asked_again": again, "question": question, "measure": measure,
                    "estimate": estimate, "lower": estimate - reach, "upper": estimate + reach, "over": "other users",
                }
            )  # fmt: skip
    return pd.DataFrame(rows)
