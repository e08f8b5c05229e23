"""Kamishima's sushi rankings: two pairwise tables, set A (`sushi`) and set B (`sushi_b`), of the same 5,000 people."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from data_adapters.codebooks.sushi import (
    AGES,
    FIRST_OTHER_GROUP,
    FIRST_WESTERN_REGION,
    ITEM_COLUMNS,
    ITEM_FILE,
    MINOR_GROUPS,
    N_ITEMS,
    ORDER_COLUMNS,
    ORDER_FILES,
    PREFECTURES,
    PUBLISHED_COLUMNS,
    RANKED,
    REGION_OF_PREFECTURE,
    REGIONS,
    SET_A,
    USER_COLUMNS,
    USER_FILE,
)
from data_adapters.simulators.sushi import simulate
from data_adapters.source import strict
from data_adapters.source.adapter import Adapter
from data_adapters.source.description import Archive, Counts, Dataset, RawFile, binary, categorical, numeric
from data_adapters.source.faults import read_all
from data_adapters.source.raw_folder import RawFolder
from data_adapters.source.reading import Columns, Reading
from data_adapters.table.side import coin_of
from models.records.arrays import IntArray
from models.records.errors import RawDataError
from models.records.manifest import DroppedRows, Licence

SUSHI = Dataset(
    name="sushi",
    title="Sushi preferences of 5,000 people in Japan",
    citation=(
        "T. Kamishima (2003), Nantonac Collaborative Filtering: Recommendation Based on Order Responses, "
        "KDD 2003, 583-588"
    ),
    licence=Licence(
        name="SUSHI Preference Data Set usage licence",
        terms=(
            "Free for any research purpose. The data may not be passed on without the author's permission, nobody is "
            "liable for damage from its use, and a publication is asked to cite one of the author's papers."
        ),
        url="https://www.kamishima.net/sushi/",
        needs_agreement=True,
    ),
    archive=Archive(
        url="https://www.kamishima.net/asset/sushi3-2016.zip",
        sha256="4f8bbf3acd6f796cb3d0add6c73c394664982c57d3b48e75e92014e5278558a8",
        max_bytes=10_000_000,
    ),
    raw=(
        RawFile(
            name=ITEM_FILE,
            sha256="568d73580f82a9ffba7ee1a3750506a0517c9ce904eec41559fe4ab573911fde",
            bytes=6_515,
        ),
        RawFile(
            name=USER_FILE,
            sha256="592d345613b6fbc1d7d126775eb5fb5628619e855c292166250f09651716eca2",
            bytes=143_826,
        ),
        RawFile(
            name=ORDER_FILES["a"],
            sha256="c56da325c0f58f9a38bafc650ed699b48dd2fb9f6ad64ba61ffc288d1ae4cc24",
            bytes=125_005,
        ),
        RawFile(
            name=ORDER_FILES["b"],
            sha256="a241c87331e4eabea5841aae0c8a982453cccd01b0a0f3b6a4e9cfabcdab563b",
            bytes=160_905,
        ),
    ),
    side="random",
    item_texts={"label": "Japanese name in Latin letters"},
    items=(  # dt-pbo, Table 6
        binary("style", "whether it is a roll", false="maki", true="other"),
        binary("major_group", "whether it is seafood", false="seafood", true="other"),
        categorical("minor_group", "what it is made of", MINOR_GROUPS),
        numeric(
            "lightness",
            "taste, from 0, the oiliest, to 4, the lightest (mean rating; raw: oiliness)",
            minimum=0,
            maximum=4,
        ),
        numeric("eating_frequency", "how often people eat it, 3 is often (mean rating)", minimum=0, maximum=3),
        numeric("normalised_price", "price relative to others', not limited to 1", minimum=0),
    ),
    users=(  # dt-pbo, Table 7
        binary("gender", "gender", false="male", true="female"),
        categorical("age", "age in years", AGES),
        numeric("seconds", "time taken to fill in the questionnaire", unit="s", minimum=0),
        categorical("prefecture_child", "prefecture lived in longest until the age of 15", PREFECTURES),
        categorical("region_child", "region of that prefecture", REGIONS),
        binary("east_west_child", "half of Japan of that region", false="East", true="West"),
        categorical("prefecture_now", "prefecture lived in now", PREFECTURES),
        categorical("region_now", "region of that prefecture", REGIONS),
        binary("east_west_now", "half of Japan of that region", false="East", true="West"),
        binary("moved", "whether the two prefectures differ", false="stayed", true="moved"),
    ),
    published={
        "sushi": Counts(items=10, users=5_000, comparisons=225_000),
        "sushi_b": Counts(items=100, users=5_000, comparisons=225_000),
    },
)

LIGHTNESS = f"lightness is the column oiliness of {ITEM_FILE}, in which 0 is the oiliest"


def read(raw: RawFolder) -> tuple[Reading, ...]:
    """Both sets as pairwise tables: a ranking of ten items is 45 comparisons. Raises RawDataError."""
    items = _read_items(raw.file(ITEM_FILE))
    users = _read_users(raw.file(USER_FILE))
    strange = _unpublished_columns(raw) if raw.unpinned else ()
    own_ids = np.array([str(item) for item in range(N_ITEMS)], dtype=object)
    in_a = list(SET_A.values())
    items_a = {"item_id": own_ids[:RANKED], **{column: values[in_a] for column, values in items.items()}}
    return (
        _read_set(raw, "sushi", "a", items_a, users, strange),
        _read_set(raw, "sushi_b", "b", {"item_id": own_ids, **items}, users, strange),
    )


def _unpublished_columns(raw: RawFolder) -> tuple[str, ...]:
    """A line for each file with columns that are not the published ones, by their digests.

    Raises RawDataError for a published column in the place of another one: every line would be read wrongly.
    """
    lines = []
    layouts = {ITEM_FILE: ("\t", ITEM_COLUMNS, 0), USER_FILE: ("\t", USER_COLUMNS, 0)}
    layouts |= dict.fromkeys(ORDER_FILES.values(), (" ", ORDER_COLUMNS, 1))
    for file, (separator, names, header) in layouts.items():
        fields = strict.read_rows(raw.file(file), separator=separator).fields[header:]
        digests = [sha256("\n".join(column).encode()).hexdigest()[:12] for column in zip(*fields, strict=False)]
        published = dict(zip(PUBLISHED_COLUMNS[file], names, strict=True))
        found = [(name, published.get(digest)) for name, digest in zip(names, digests, strict=False)]
        for name, other in found:
            if other not in {None, name}:
                raise RawDataError(f"{file}: column {name} holds what the published file has in column {other}.")
        unknown = [name for name, other in found if other is None]
        if unknown:
            lines.append(f"{file}: not as published, by their digests, are the columns {', '.join(unknown)}")
    return tuple(lines)


def _read_set(
    raw: RawFolder, name: str, letter: str, items: Columns, users: Columns, strange: tuple[str, ...]
) -> Reading:
    file, item_ids, prices = ORDER_FILES[letter], items["item_id"], items["normalised_price"]
    rankings = _read_orders(raw.file(file), len(item_ids), users["user_id"])
    left_out = N_ITEMS - len(item_ids)
    quirks = [
        f"{ITEM_FILE} column 8: the price is above 1 for {(prices > 1).sum()} of {len(item_ids)} items, though dt-pbo "
        f"(Table 6) gives its range as [0, 1]",
        f"{ITEM_FILE} column 9 (how often shops sell an item) is not among dt-pbo's six features and is left out",
        f"{USER_FILE} column 1: the user's id is not the number of the row",
    ]
    if left_out:
        quirks.append(f"{file}: set A numbers its items otherwise than {ITEM_FILE}; they are matched by name")
    return Reading(
        name=name,
        items=items,
        comparisons=_comparisons(letter, rankings, users["user_id"], item_ids),
        users=users,
        rows_read={ITEM_FILE: N_ITEMS, USER_FILE: len(rankings), file: len(rankings)},
        dropped=(DroppedRows(table="items", reason="not in set A", rows=left_out),) if left_out else (),
        quirks=(*quirks, *strange, LIGHTNESS),
    )


def _read_items(path: Path) -> Columns:
    """Label and features of the hundred items of set B, in the order of their ids."""
    rows = strict.read_rows(path, separator="\t")
    columns = rows.columns(ITEM_COLUMNS)
    rows.require_count(N_ITEMS, "items")
    columns.require(
        "item_id", columns.integers("item_id", minimum=0) == np.arange(N_ITEMS), "the ids 0 to 99 in their order"
    )
    names = np.array(columns.text("name"), dtype=object)
    columns.require_unique("name")
    expected_names = names.copy()
    expected_names[list(SET_A.values())] = list(SET_A)
    columns.require("name", names == expected_names, f"the names of set A ({', '.join(SET_A)}) at their ids")
    found = read_all({
        "style": partial(columns.integers, "style", minimum=0, maximum=1),
        "minor_group": partial(columns.integers, "minor_group", minimum=0, maximum=len(MINOR_GROUPS) - 1),
        "major_group": partial(columns.integers, "major_group", minimum=0, maximum=1),
        "lightness": partial(columns.numbers, "oiliness", minimum=0, maximum=4),
        "eating_frequency": partial(columns.numbers, "eating_frequency", minimum=0, maximum=3),
        "normalised_price": partial(columns.numbers, "normalised_price", minimum=0),
        "shop_frequency": partial(columns.numbers, "shop_frequency", minimum=0, maximum=1),
    })  # fmt: skip
    minor_group, major_group = found["minor_group"], found["major_group"]
    columns.require(
        "major_group", (minor_group < FIRST_OTHER_GROUP) == (major_group == 0), "0 for the minor groups 0 to 8, else 1"
    )
    return {
        "label": names,
        "style": found["style"] == 1,
        "major_group": major_group == 1,
        "minor_group": np.array(MINOR_GROUPS, dtype=object)[minor_group],
        **{name: found[name] for name in ("lightness", "eating_frequency", "normalised_price")},
    }


def _read_users(path: Path) -> Columns:
    columns = strict.read_rows(path, separator="\t").columns(USER_COLUMNS)
    found = read_all({
        "user_id": partial(columns.integers, "user_id", minimum=0),
        "unique": partial(columns.require_unique, "user_id"),
        "gender": partial(columns.integers, "gender", minimum=0, maximum=1),
        "age": partial(columns.integers, "age", minimum=0, maximum=len(AGES) - 1),
        "seconds": partial(columns.numbers, "seconds", minimum=0),
        **{when: partial(_read_home, columns, when) for when in ("child", "now")},
        "moved": partial(columns.integers, "moved", minimum=0, maximum=1),
    })  # fmt: skip
    homes, moved = {when: found[when] for when in ("child", "now")}, found["moved"]
    differ = homes["child"]["prefecture_child"] != homes["now"]["prefecture_now"]
    columns.require("moved", differ == (moved == 1), "1 where the two prefectures differ, else 0")
    return {
        "user_id": np.array(columns.texts["user_id"], dtype=object),
        "gender": found["gender"] == 1,
        "age": np.array(AGES, dtype=object)[found["age"]],
        "seconds": found["seconds"],
        **homes["child"],
        **homes["now"],
        "moved": moved == 1,
    }


def _read_home(columns: strict.Columns, when: str) -> dict[str, Any]:
    """Prefecture, region and half of Japan. The three have to agree."""
    highest = {"prefecture": len(PREFECTURES) - 1, "region": len(REGIONS) - 1, "east_west": 1}
    places = {
        name: partial(columns.integers, f"{name}_{when}", minimum=0, maximum=maximum)
        for name, maximum in highest.items()
    }
    prefecture, region, west = read_all(places).values()
    columns.require(f"region_{when}", region == REGION_OF_PREFECTURE[prefecture], "the region of the prefecture")
    columns.require(f"east_west_{when}", (region >= FIRST_WESTERN_REGION) == (west == 1), "the half of the region")
    return {
        f"prefecture_{when}": np.array(PREFECTURES, dtype=object)[prefecture],
        f"region_{when}": np.array(REGIONS, dtype=object)[region],
        f"east_west_{when}": west == 1,
    }


def _read_orders(path: Path, n_items: int, user_ids: Sequence[str]) -> IntArray:
    """Each user's ten items, best first, (n_users, 10)."""
    rows = strict.read_rows(path, separator=" ").after_header((str(n_items), "1"))
    for row, (user, fields) in enumerate(zip(user_ids, rows.fields, strict=False)):
        found = sum(map(bool, fields[2:]))
        if found != RANKED:
            raise rows.error(row, f"expected {RANKED} items, found {found} (user {user})")
    rows.require_count(len(user_ids), f"orders, one a line of {USER_FILE}")
    columns = rows.columns(ORDER_COLUMNS)
    ranks = {rank: partial(columns.integers, rank, minimum=0, maximum=n_items - 1) for rank in ORDER_COLUMNS[2:]}
    values = read_all({
        **{
            name: partial(columns.require, name, np.array(columns.texts[name], dtype=object) == text, text)
            for name, text in (("start", "0"), ("length", str(RANKED)))
        },
        **ranks,
    })  # fmt: skip
    rankings = np.stack([values[rank] for rank in ranks], axis=1)
    repeated = (np.diff(np.sort(rankings, axis=1), axis=1) == 0).any(axis=1)
    if repeated.any():
        row = int(np.argmax(repeated))
        ids, times = np.unique(rankings[row], return_counts=True)
        raise rows.error(
            row, f"expected {RANKED} different items, found {ids[times > 1][0]} twice (user {user_ids[row]})"
        )
    return rankings


def _comparisons(letter: str, rankings: IntArray, user_ids: Sequence[str], item_ids: NDArray[Any]) -> Columns:
    """The 45 pairs of every ranking (n, 10), ordered by the items' ids, not by rank."""
    items, ranks = np.sort(rankings, axis=1), np.argsort(rankings, axis=1)
    low, high = np.triu_indices(RANKED, k=1)
    ids = pa.array(item_ids)
    low_id, high_id = (ids.take(pa.array(items[:, side].ravel())) for side in (low, high))
    user_id = pa.array(user_ids).take(pa.array(np.repeat(np.arange(len(rankings)), len(low))))
    comparison_id = pc.binary_join_element_wise(letter, user_id, low_id, high_id, "-")
    low_left = coin_of(comparison_id)
    low_wins = (ranks[:, low] < ranks[:, high]).ravel()
    return {
        "comparison_id": comparison_id,
        "left_id": pc.if_else(low_left, low_id, high_id),
        "right_id": pc.if_else(low_left, high_id, low_id),
        "left_wins": low_wins == low_left,
        "user_id": user_id,
    }


ADAPTER = Adapter(dataset=SUSHI, version="2", read=read, simulate=simulate)
