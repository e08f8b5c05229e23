"""Simulated sushi3-2016 files: invented items and people, and three taste types that depend on where people live."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from data_adapters.codebooks.sushi import (
    AGES,
    FIRST_OTHER_GROUP,
    FIRST_WESTERN_REGION,
    ITEM_FILE,
    N_ITEMS,
    ORDER_FILES,
    PREFECTURES,
    RANKED,
    REGION_OF_PREFECTURE,
    SET_A,
    USER_FILE,
)
from data_adapters.source.planted import Preference, Rule
from models.records.arrays import FloatArray, IntArray

PUBLISHED_USERS = 5_000

NUMBERS = {"lightness": (0.2, 2.0, 3.9), "eating_frequency": (0.2, 1.2, 2.6), "normalised_price": (0.6, 1.8, 4.5)}
"""Lowest value, the cut a taste type asks about, and highest value of each simulated number."""
GAP = 0.15
"""Smallest distance of a simulated number from its cut."""

TYPES = {
    "rich": (
        Rule(feature="lightness", cut=NUMBERS["lightness"][1], prefers="low"),
        Rule(feature="normalised_price", prefers="low"),
    ),
    "thrifty": (
        Rule(feature="normalised_price", cut=NUMBERS["normalised_price"][1], prefers="low"),
        Rule(feature="eating_frequency", prefers="high"),
    ),
    "familiar": (
        Rule(feature="eating_frequency", cut=NUMBERS["eating_frequency"][1], prefers="high"),
        Rule(feature="lightness", prefers="high"),
    ),
}
MIXED = 0.1
SWAPPED = 0.05
WORDS = (
    "Three taste types. Rich: oily items (lightness below 2) first, of these and of the others the cheaper first. "
    "Thrifty: cheap items (normalised_price below 1.8) first, then those eaten more often. Familiar: items eaten often "
    "(eating_frequency of 1.2 or more) first, then the lighter. Who grew up in the East is rich; of the others, "
    f"people under 30 are thrifty and the rest familiar; {MIXED:.0%} of all are of a type drawn at random. "
    f"In every ranking, any two neighbours change places with a chance of {SWAPPED:.0%}."
)

SET_A_TRAITS = {
    "ebi": (6, "light", "dear", "often"),
    "anago": (3, "oily", "cheap", "seldom"),
    "maguro": (1, "oily", "cheap", "often"),
    "ika": (5, "light", "cheap", "seldom"),
    "uni": (8, "oily", "dear", "seldom"),
    "ikura": (7, "oily", "dear", "often"),
    "tamago": (9, "light", "cheap", "often"),
    "toro": (1, "oily", "dear", "often"),
    "tekka_maki": (1, "light", "dear", "seldom"),
    "kappa_maki": (11, "light", "cheap", "seldom"),
}
"""Minor group and invented traits: each trait halves set A in its own way, so that rules can be told apart."""

INVENTED = {
    "aji": 0, "saba": 0, "katsuo": 1, "tai": 2, "hirame": 2, "unagi": 3, "hotate": 4, "asari": 4, "tako": 5,
    "kani": 6, "tobiko": 7, "kurage": 8, "uzura": 9, "gyuniku": 10, "nasu": 11,
}  # fmt: skip
"""Ingredients of the invented items, with their minor group."""
STYLES = ("maki", "aburi", "shio", "miso", "yaki", "zuke")


def simulate(folder: Path, *, seed: int, users: int | None) -> Preference:
    """Write the four files in upstream's format into `folder` and return the planted preference."""
    rng = np.random.default_rng(seed)
    items = _items(rng)
    numbers = _numbers(rng)
    people = _people(rng, users or PUBLISHED_USERS)
    taste = _tastes(rng, people)
    _write(folder / ITEM_FILE, _item_lines(rng, items, numbers))
    _write(folder / USER_FILE, ["\t".join(map(str, row)) for row in people.tolist()])

    appeal = np.stack([_appeal(rules, numbers) for rules in TYPES.values()])
    set_a = np.tile(np.array(list(SET_A.values())), (len(people), 1))
    shown_b = rng.permuted(np.tile(np.arange(N_ITEMS), (len(people), 1)), axis=1)[:, :RANKED]
    rankings_a = np.searchsorted(np.array(list(SET_A.values())), _rank(rng, set_a, appeal[taste]))
    _write(folder / ORDER_FILES["a"], _order_lines(rankings_a, RANKED))
    _write(folder / ORDER_FILES["b"], _order_lines(_rank(rng, shown_b, appeal[taste]), N_ITEMS))

    names = list(TYPES)
    type_of = {str(user): names[code] for user, code in zip(people[:, 0].tolist(), taste.tolist(), strict=True)}
    return Preference(words=WORDS, types=TYPES, type_of=type_of, noise=SWAPPED)


def _items(rng: np.random.Generator) -> list[tuple[str, int]]:
    """Name and minor group of the hundred items: the ten of set A with their own names, and ninety invented ones."""
    invented = [(f"{main}_{style}", group) for main, group in INVENTED.items() for style in STYLES]
    shuffled = iter([invented[position] for position in rng.permutation(len(invented))])
    own = {item: (name, SET_A_TRAITS[name][0]) for name, item in SET_A.items()}
    return [own[item] if item in own else next(shuffled) for item in range(N_ITEMS)]


def _numbers(rng: np.random.Generator) -> dict[str, FloatArray]:
    """Each numeric feature of the hundred items, (100,), below or above its cut by the traits or by a coin."""
    traits = list(SET_A_TRAITS.values())
    high_in_a = {
        "lightness": [trait[1] == "light" for trait in traits],
        "eating_frequency": [trait[3] == "often" for trait in traits],
        "normalised_price": [trait[2] == "dear" for trait in traits],
    }
    numbers = {}
    for feature, (lowest, cut, highest) in NUMBERS.items():
        high = rng.random(N_ITEMS) < 0.5
        high[list(SET_A.values())] = high_in_a[feature]
        below, above = rng.uniform(lowest, cut - GAP, N_ITEMS), rng.uniform(cut + GAP, highest, N_ITEMS)
        numbers[feature] = np.where(high, above, below).round(6)
    return numbers


def _item_lines(
    rng: np.random.Generator, items: Sequence[tuple[str, int]], numbers: dict[str, FloatArray]
) -> list[str]:
    sold = rng.uniform(0, 1, N_ITEMS).round(2)
    return [
        "\t".join(
            [
                str(item),
                name,
                str(int(not name.endswith("_maki"))),
                str(int(group >= FIRST_OTHER_GROUP)),
                str(group),
                *(f"{numbers[feature][item]:.6f}" for feature in NUMBERS),
                f"{sold[item]:.2f}",
            ]
        )
        for item, (name, group) in enumerate(items)
    ]


def _people(rng: np.random.Generator, n: int) -> IntArray:
    """The columns of sushi3.udata, (n, 11)."""
    in_japan = len(PREFECTURES) - 1
    child = rng.integers(in_japan, size=n)
    now = np.where(rng.random(n) < 0.65, child, rng.integers(in_japan, size=n))
    homes = [
        [home, REGION_OF_PREFECTURE[home], REGION_OF_PREFECTURE[home] >= FIRST_WESTERN_REGION] for home in (child, now)
    ]
    return np.column_stack(
        [
            rng.permutation(2 * n)[:n],
            rng.integers(2, size=n),
            rng.integers(len(AGES), size=n),
            rng.integers(165, 880, size=n),
            *homes[0],
            *homes[1],
            child != now,
        ]
    ).astype(np.int64)


def _tastes(rng: np.random.Generator, people: IntArray) -> IntArray:
    """The position in TYPES of each person's taste, (n,)."""
    from_west, under_30 = people[:, 6] == 1, people[:, 2] < 2
    ruled = np.where(from_west, np.where(under_30, 1, 2), 0)
    mixed = rng.random(len(people)) < MIXED
    return np.where(mixed, rng.integers(len(TYPES), size=len(people)), ruled)


def _appeal(rules: Sequence[Rule], numbers: dict[str, FloatArray]) -> FloatArray:
    """A score of the hundred items, (100,), that orders them by the rules; earlier rules decide first."""
    appeal = np.zeros(N_ITEMS)
    for rule in reversed(rules):
        values = numbers[rule.feature]
        answer = values if rule.cut is None else (values >= rule.cut).astype(np.float64)
        below_one = (appeal - appeal.min()) / (np.ptp(appeal) + 1.0)
        appeal = (answer if rule.prefers == "high" else -answer) + below_one
    return appeal


def _rank(rng: np.random.Generator, shown: IntArray, appeal: FloatArray) -> IntArray:
    """Each person's shown items, (n, 10), in the order of their appeal, (n, 100), some neighbours swapped."""
    order = np.argsort(-np.take_along_axis(appeal, shown, axis=1), axis=1, kind="stable")
    ranking = np.take_along_axis(shown, order, axis=1)
    for rank in range(RANKED - 1):
        swapped = rng.random(len(ranking)) < SWAPPED
        ranking[swapped, rank : rank + 2] = ranking[swapped, rank : rank + 2][:, ::-1]
    return ranking


def _order_lines(rankings: IntArray, n_items: int) -> list[str]:
    return [f"{n_items} 1", *(f"0 {RANKED} {' '.join(map(str, ranking))}" for ranking in rankings.tolist())]


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
