"""Simulated `chameleons.rda` in R's own format: invented males; the one with the higher casque wins."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from data_adapters.codebooks.chameleon import (
    MISSING_CONTEST,
    PREDICTORS,
    PRIOR_WINS,
    R_OBJECT,
    RDA_FILE,
    count_prior_wins,
)
from data_adapters.source.planted import Preference, Rule
from models.records.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

PUBLISHED_MALES, CONTESTS_A_MALE = 35, 106 / 35

RANGES = {
    "casque_height": (-1.9, 1.7), "jaw_length": (-1.4, 1.4), "tail_length": (-9.5, 12.0), "condition": (-1.5, 2.4),
    "body_length": (68.0, 91.0), "main_patch": (21.0, 45.0), "flank_patch": (21.0, 54.0),
}  # fmt: skip
NOISE = 0.05
RULES = (Rule(feature="casque_height", cut=0.0, prefers="high"), Rule(feature="flank_patch", prefers="high"))
WORDS = (
    "A male with a casque of average height or more (casque_height of 0 or more) beats one with a lower one; of two on "
    f"the same side of 0, the one with the larger flank_patch wins. In {NOISE:.0%} of the contests it is the other way "
    "round. Earlier wins do not matter."
)


def simulate(folder: Path, *, seed: int, users: int | None) -> Preference:
    """Write the file in R's format into `folder`; `users`: number of males."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    n_males = max(users or PUBLISHED_MALES, 2)
    males = np.array([f"C{number:02d}" for number in range(1, n_males + 1)], dtype=object)
    traits = {name: rng.uniform(*limits, size=n_males).round(2) for name, limits in RANGES.items()}
    winners, losers = _contests(rng, traits, round(n_males * CONTESTS_A_MALE))
    number = np.arange(1, len(winners) + 1)
    contests = number + (number >= MISSING_CONTEST)
    counted = count_prior_wins(males[winners].tolist(), males[losers].tolist())
    tables = {
        side: pd.DataFrame(
            {"ID": pd.Categorical(males[who], categories=males)}
            | {column: before[name].astype(np.int32) for name, column in PRIOR_WINS.items()},
            index=contests.astype(np.int32),
        )
        for side, who, before in zip(("winner", "loser"), (winners, losers), counted, strict=True)
    }
    predictors = {column: traits[name] for name, column in PREDICTORS.items()}
    _write(folder / RDA_FILE, tables | {"predictors": pd.DataFrame(predictors, index=pd.Index(males, dtype=object))})
    return Preference(words=WORDS, types={"male": RULES}, type_of={}, noise=NOISE)


def _contests(rng: np.random.Generator, traits: dict[str, FloatArray], n: int) -> tuple[IntArray, IntArray]:
    """Winners and losers, (n,) each, by the rules and the noise."""
    n_males = len(traits["casque_height"])
    one = rng.integers(n_males, size=n)
    other = (one + rng.integers(1, n_males, size=n)) % n_males
    appeal = (traits["casque_height"] >= 0) * 100 + traits["flank_patch"]
    one_wins = (appeal[one] > appeal[other]) ^ (rng.random(n) < NOISE)
    return np.where(one_wins, one, other), np.where(one_wins, other, one)


def _write(path: Path, tables: dict[str, pd.DataFrame]) -> None:
    """Write an .rda file of version 2 of the format, gzipped, as upstream's is. Same tables, same bytes."""
    import rdata

    plain = path.with_suffix(".plain")
    rdata.write_rda(plain, {R_OBJECT: tables}, compression=None, format_version=2)
    path.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    plain.unlink()
