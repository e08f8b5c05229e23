"""Simulated Weedle's Cave files: invented Pokemon; three types beat one another in a ring, else the faster wins."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from data_adapters.codebooks.pokemon import (
    BATTLE_COLUMNS,
    COMBAT_COLUMNS,
    COMBAT_FILE,
    GENERATIONS,
    ITEM_COLUMNS,
    ITEM_FILE,
    STATS,
    TEST_FILE,
    TYPES,
)
from data_adapters.source.planted import Preference, Rule
from models.records.arrays import BoolArray, IntArray

PUBLISHED_ITEMS, COMBATS_AN_ITEM, TESTS_AN_ITEM = 800, 62.5, 12.5

RING = ("Fire", "Grass", "Water")
"""Each type beats the next one, and the last beats the first."""
NOISE = 0.05
WORDS = (
    "Of two Pokemon, one whose first type is Fire beats one whose first type is Grass, Grass beats Water, and Water "
    "beats Fire. In every other battle the faster wins (speed), and of two as fast the first. "
    f"In {NOISE:.0%} of all battles it is the other way round. Nothing else matters, nor who stands first. "
    f"{TEST_FILE} has battles without an outcome, as upstream's."
)
NAMELESS = 63
"""The number of the Pokemon without a name, as in upstream's file."""


def simulate(folder: Path, *, seed: int, users: int | None) -> Preference:
    """Write the three files in upstream's format into `folder`; `users`: number of Pokemon."""
    rng = np.random.default_rng(seed)
    n_items = max(users or PUBLISHED_ITEMS, 2)
    first_type = rng.choice(len(TYPES), size=n_items, p=_shares())
    stats = rng.integers(5, 181, size=(n_items, len(STATS)))
    _write(folder / ITEM_FILE, ITEM_COLUMNS, _item_rows(rng, first_type, stats), final_break=False)

    battles = _battles(rng, n_items, round(n_items * COMBATS_AN_ITEM))
    ring = np.array([RING.index(name) if name in RING else -1 for name in TYPES])[first_type]
    first_wins = _first_wins(battles, ring, stats[:, -1]) ^ (rng.random(len(battles)) < NOISE)
    winners = np.where(first_wins, battles[:, 0], battles[:, 1])
    _write(folder / COMBAT_FILE, COMBAT_COLUMNS, (np.column_stack([battles, winners]) + 1).tolist(), final_break=False)
    tests = _battles(rng, n_items, round(n_items * TESTS_AN_ITEM))
    _write(folder / TEST_FILE, BATTLE_COLUMNS, (tests + 1).tolist(), final_break=True)
    return Preference(words=WORDS, types={"battle": (Rule(feature="speed", prefers="high"),)}, type_of={}, noise=NOISE)


def _shares() -> list[float]:
    """Share of each type among the first types; the types of the ring have half in all."""
    return [0.5 / len(RING) if name in RING else 0.5 / (len(TYPES) - len(RING)) for name in TYPES]


def _item_rows(rng: np.random.Generator, first_type: IntArray, stats: IntArray) -> list[list[object]]:
    n_items = len(first_type)
    second_type = (first_type + rng.integers(1, len(TYPES), size=n_items)) % len(TYPES)
    has_second = rng.random(n_items) < 0.5
    generation = rng.integers(1, GENERATIONS + 1, size=n_items)
    legendary = rng.random(n_items) < 0.08
    return [
        [
            row + 1,
            "" if row + 1 == NAMELESS else f"Invented {row + 1}",
            TYPES[first_type[row]],
            TYPES[second_type[row]] if has_second[row] else "",
            *stats[row],
            generation[row],
            legendary[row],
        ]
        for row in range(n_items)
    ]


def _battles(rng: np.random.Generator, n_items: int, n: int) -> IntArray:
    """Two different Pokemon each, (n, 2)."""
    first = rng.integers(n_items, size=n)
    second = (first + rng.integers(1, n_items, size=n)) % n_items
    return np.column_stack([first, second])


def _first_wins(battles: IntArray, ring: IntArray, speed: IntArray) -> BoolArray:
    """Whether the first of each battle wins by the rules, (n,). ring: position of the first type in RING, else -1."""
    one, other = ring[battles].T
    in_ring = (one >= 0) & (other >= 0) & (one != other)
    faster = speed[battles[:, 0]] >= speed[battles[:, 1]]
    return np.where(in_ring, (one + 1) % len(RING) == other, faster)


def _write(path: Path, header: tuple[str, ...], rows: list[list[object]], *, final_break: bool) -> None:
    text = "\n".join(",".join(map(str, row)) for row in [header, *rows])
    path.write_text(text + ("\n" if final_break else ""), encoding="utf-8", newline="")
