"""A run of the sushi study made up in code: plausible values, no real data."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from models.records.card import DataCard, FeatureCard, LevelCount, SideBias, Spread
from models.records.features import Column, Feature, FeatureKind
from models.records.manifest import DroppedRows, Licence, Manifest, RawFileRecord
from models.records.published import published_by_split
from models.records.results import MetricRow
from models.records.run_record import RunRecord, StepTime
from models.trees.structure import Node
from reports.page.render import Rendered, render
from tasks.respondents.comparing_protocols import compare_protocols
from tasks.respondents.leaving_out import delta_intervals
from tasks.respondents.summaries import write_tree_summaries
from tests.reports.histories import history, history_differences
from tests.reports.plain_results import plain_metrics, write_beside

QUARTILES = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")
MINOR = ("blue-skinned", "red", "white", "eel-like", "clam", "squid or octopus", "shrimp", "roe", "other sea", "egg")
COLUMNS = (
    Column(name="style", feature="style", kind=FeatureKind.BINARY, levels=("maki", "other")),
    Column(name="minor group", feature="minor group", kind=FeatureKind.CATEGORICAL, levels=MINOR),
    Column(name="oiliness", feature="oiliness", kind=FeatureKind.NUMERIC),
    Column(name="price", feature="price", kind=FeatureKind.NUMERIC),
)
LABELS = (
    "shrimp",
    "sea eel",
    "tuna",
    "squid",
    "sea urchin",
    "salmon roe",
    "egg",
    "fatty tuna",
    "tuna roll",
    "cucumber roll",
)

Split = tuple[int, float | tuple[int, ...], Any, Any]
"""A split as a tuple: column, threshold or left levels, left subtree, right subtree; a leaf is its item count."""


def grow(split: Split | int, pairs: int = 36) -> list[Node]:
    """The nodes, in pre-order, of a tree written as nested splits."""
    nodes: list[Node] = []
    leaves = iter(range(1000))

    def add(at: Split | int, parent: int | None, depth: int, n: int) -> int:
        position = len(nodes)
        if isinstance(at, int):
            nodes.append(Node(id=position, parent=parent, depth=depth, n_comparisons=0, n_items=at, leaf=next(leaves)))
            return position
        column, cut, left, right = at
        nodes.append(Node(id=position, parent=parent, depth=depth, n_comparisons=n, n_items=0))
        low = add(left, position, depth + 1, n // 2)
        high = add(right, position, depth + 1, n // 3)
        how = {"left_levels": cut} if isinstance(cut, tuple) else {"threshold": cut}
        nodes[position] = Node(
            id=position, parent=parent, depth=depth, n_comparisons=n, score=n // 2,
            n_items=nodes[low].n_items + nodes[high].n_items, column=column, left=low, right=high, **how,
        )  # fmt: skip
        return position

    add(split, None, 0, pairs)
    return nodes


SMALL: Split = (
    2, 1.5,
    (1, (1, 3), (3, 2.5, 1, 1), (2, 0.87, 1, 1)),
    (0, 0.5, (2, 3.1, 1, 1), (1, (6,), 1, (3, 1.1, 2, 1))),
)  # fmt: skip


def bushy(depth: int, items: int = 0) -> Split | int:
    """A full tree of a given depth with the items spread over its leaves; most leaves hold none."""
    if depth == 0:
        return items
    return (depth % 4, 0.5 + depth / 4, bushy(depth - 1, items // 2), bushy(depth - 1, items - items // 2))


def leaves_of(nodes: list[Node], seed: int) -> dict[str, Any]:
    """Utilities and items for the leaves of a tree, as the study writes them."""
    rng = np.random.default_rng(seed)
    counts = [node.n_items for node in nodes if node.leaf is not None]
    mean = rng.normal(0, 1.1, len(counts))
    names = iter(LABELS)
    return {
        "leaf_mean": list(mean - mean.mean()),
        "leaf_covariance": np.diag(rng.uniform(0.3, 0.7, len(counts)) ** 2).tolist(),
        "leaf_items": [[name for _, name in zip(range(count), names, strict=False)] for count in counts],
    }


def fitted(split: Split | int, seed: int) -> dict[str, Any]:
    nodes = grow(split)
    return {
        "columns": [column.model_dump(mode="json") for column in COLUMNS],
        "nodes": [node.model_dump(mode="json") for node in nodes],
        **leaves_of(nodes, seed),
    }


def manifest(*, simulated: bool, unpinned: bool) -> Manifest:
    return Manifest(
        name="sushi",
        title="Rankings of ten kinds of sushi",
        citation="Nobody (2026), Made-up rankings for the tests of a report",
        licence=Licence(name="Research use", terms="Any research use; no redistribution without permission."),
        adapter_version="1",
        simulated=simulated,
        unpinned=unpinned,
        side="random",
        raw_files=(
            RawFileRecord(name="items.tsv", url=None, sha256="0f" * 32, bytes=6515, pinned=True),
            RawFileRecord(name="rankings.order", url=None, sha256="a7" * 32, bytes=125005, pinned=not unpinned),
        ),
        rows_read={"items": 100, "users": 400, "rankings": 400},
        rows={"items": 10, "users": 400, "comparisons": 18000},
        dropped=(DroppedRows(table="rankings", reason="fewer than two items", rows=3),),
        quirks=("The ids of the ten items are not those of the hundred.",),
    )


def card(of: Manifest) -> DataCard:
    """A card with every kind of feature, with missing values, many levels and no levels."""

    def line(part: str, name: str, missing: int = 0, spread: Spread | None = None, **levels: int) -> FeatureCard:
        kind = FeatureKind.CATEGORICAL if levels else FeatureKind.NUMERIC
        unit = "s" if name == "seconds" else None
        return FeatureCard(
            part=part,
            feature=Feature(name=name, kind=kind, description=name, levels=tuple(levels) or None, unit=unit),
            rows=of.rows[part],
            missing=missing,
            spread=spread,
            levels=tuple(LevelCount(label=label.replace("_", " "), rows=rows) for label, rows in levels.items()),
        )

    def spread(*values: float, bins: tuple[int, ...]) -> Spread:
        return Spread(**dict(zip(QUARTILES, values, strict=True)), bins=bins)

    regions = {f"region_{number}": 60 - 4 * number for number in range(15)}
    return DataCard(
        manifest=of,
        features=(
            line("items", "style", maki=2, other=8),
            line("items", "minor_group", red_meat_fish=3, shrimp_or_crab=2, squid_or_octopus=2, roe=1, egg=1, clam=1),
            line("items", "oiliness", spread=spread(0.55, 1.01, 2.01, 2.61, 3.73, bins=(2, 1, 1, 0, 1, 0, 2, 0, 2, 1))),
            line("items", "normalised_price", spread=spread(1, 1, 1, 1, 1, bins=(10,))),
            line(
                "users", "seconds", 104, spread(165, 231, 277, 341, 877, bins=(60, 90, 70, 40, 20, 8, 4, 2, 1, 0, 0, 1))
            ),
            line("users", "region_now", 6, **regions),
            line("users", "turned_pro", 400),
        ),
        side_bias=None
        if of.side == "random"
        else SideBias(comparisons=18000, left_wins=8640, share=0.48, low=0.4727, high=0.4873),
    )


PUBLISHED = published_by_split({"train": 0.998, "test": 0.888}, model="preference_tree", source="dt-pbo Table 1")


def interval(value: float, sd: float) -> dict[str, float | str]:
    """The 95% interval of a mean over 400 users."""
    reach = 1.966 * sd / 20
    return {"lower": value - reach, "upper": value + reach, "over": "other users"}


def metrics() -> list[MetricRow]:
    values = {
        "straddlers_discarded": {
            "train": (0.987, 0.981, 0.991, 0.018), "test": (0.8541, 0.7832, 0.8523, 0.129), "size": (8.7, 4.2),
        },
        "straddlers_kept": {
            "train": (0.9989, 0.9987, 0.9993, 0.001), "test": (0.8884, 0.8653, 0.9417, 0.118), "size": (54.2, 10.9),
        },
    }  # fmt: skip
    published = {"train": 0.998, "test": 0.888}
    rows = []
    for variant, found in values.items():
        common = {"study": "sushi", "model": "preference_tree", "variant": variant, "n": 400}
        for split in ("train", "test"):
            *numbers, sd = found[split]
            for metric, value in zip(("accuracy", "strict_accuracy", "decided_share"), numbers, strict=True):
                stated = {"published": published[split], "published_source": "dt-pbo Table 1"}
                rows.append(
                    MetricRow(
                        **common,
                        metric=metric,
                        split=split,
                        value=value,
                        sd=sd,
                        **interval(value, sd),
                        **(stated if metric == "accuracy" else {}),
                    )
                )
        for metric, value in zip(("leaves", "depth"), found["size"], strict=True):
            rows.append(MetricRow(**common, metric=metric, split="train", value=value, sd=value / 8))
    return [*rows, *gp_metrics(), *plain_metrics()]


def gp_metrics() -> list[MetricRow]:
    common = {"study": "sushi", "model": "preference_gp", "variant": "gp", "n": 400, "sd": 0.1}
    found = {"train": (0.999, 0.997, 1.0), "test": (0.8879, 0.8861, 0.9962)}
    published = {"train": 0.997, "test": 0.895}
    return [
        MetricRow(
            **common,
            metric=metric,
            split=split,
            value=value,
            published=published[split] if metric == "accuracy" else None,
            published_source="dt-pbo Table 1" if metric == "accuracy" else None,
        )
        for split, values in found.items()
        for metric, value in zip(("accuracy", "strict_accuracy", "decided_share"), values, strict=True)
    ]


def of_features() -> dict[str, pd.DataFrame]:
    """Results on the features that trees ask about, and on the worth of each feature."""
    names = [column.feature for column in COLUMNS]
    asked = pd.DataFrame({"feature": names, "asked": [0.4, 0.9, 0.8, 0.6], "first": [0.1, 0.2, 0.5, 0.2], "users": 400})
    asked = asked.assign(possible=1.0, support=[0.3, 0.5, 0.8, 0.4])
    worth = pd.DataFrame({"removed": names, "users": 400, "leaves": 8.5, "test_accuracy": 0.84, "possible": 1.0})
    for split, sd in (("train", 3.0), ("test", 9.0)):
        worth[f"{split}_delta"] = [-0.2, 0.1, -3.4, 1.6]
        worth[f"{split}_delta_sd"] = sd
    return {"asked_features": asked, "leaving_out": worth, "leaving_out_intervals": delta_intervals(worth)}


def users() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    frames = []
    for variant, chance, leaves in (("straddlers_discarded", 0.85, 8.7), ("straddlers_kept", 0.885, 54.0)):
        test = rng.binomial(18, chance, 400) / 18
        frames.append(
            pd.DataFrame(
                {
                    "user_id": [str(user) for user in range(400)],
                    "variant": variant,
                    "train_accuracy": np.ones(400),
                    "test_accuracy": test,
                    "test_strict_accuracy": test - 0.05,
                    "test_decided_share": 0.9,
                    "leaves": np.maximum(2, rng.normal(leaves, leaves / 7, 400).round()).astype(int),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def protocols() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    rows = []
    for straddlers, split, tie_break, encoding, ratio in product(
        ("discard", "keep"), ("pair", "item"), ("lowest", "widest_gap", "random"),
        ("categorical_3", "categorical", "codes", "one_hot"), (0.1, 0.25, 1.0),
    ):  # fmt: skip
        kept = straddlers == "keep"
        test = (0.888 if kept else 0.856) - 0.05 * (split == "item") - 0.006 * (encoding == "codes")
        test += rng.normal(0, 0.002) * (tie_break != "lowest" or ratio != 0.25)
        train = (0.9988 if kept else 0.987) - 0.0008 * (ratio == 1.0) + rng.normal(0, 0.0002)
        rows.append(
            {
                "straddlers": straddlers, "split": split, "tie_break": tie_break, "encoding": encoding, "ratio": ratio,
                "train_accuracy": train, "train_accuracy_sd": 0.01, "test_accuracy": test, "test_accuracy_sd": 0.12,
                "train_strict_accuracy": train - 0.003, "test_strict_accuracy": test - (0.02 if kept else 0.07),
                "train_decided_share": 0.995, "test_decided_share": 0.94 if kept else 0.86,
                "leaves": (54.0 if kept else 8.7) * (1.1 if encoding == "one_hot" else 1.0) * rng.uniform(0.97, 1.03),
                "depth": 10.9 if kept else 4.2, "users": 400,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture(name="grow")
def grow_fixture() -> Callable[..., list[Node]]:
    return grow


@pytest.fixture(name="bushy")
def bushy_fixture() -> Callable[..., Split | int]:
    return bushy


@pytest.fixture
def columns() -> tuple[Column, ...]:
    return COLUMNS


@pytest.fixture(name="protocols")
def protocols_fixture() -> pd.DataFrame:
    return protocols()


WriteRun = Callable[..., Path]


def write(folder: Path, *, simulated: bool = False, unpinned: bool = False, tried: pd.DataFrame | None = None) -> Path:
    """Write a finished run of the sushi study to `folder`."""
    record = RunRecord(
        study="sushi",
        run_id="20261130T064500Z-1a2b3c4d",
        started=datetime(2026, 11, 30, 6, 45, tzinfo=UTC),
        config={
            "seed": 0,
            "simulated": simulated,
            "example_user": "17",
            "cohort": 50,
            "tie_break": "random",
            "tree": {"ratio": 0.25},
        },
        seed=0,
        data=(manifest(simulated=simulated, unpinned=unpinned),),
        git_commit="0123456789abcdef0123456789abcdef01234567",
        git_dirty=False,
        packages={"numpy": "2.4.6", "pandas": "3.1.1", "prefstudy": "0.1.0"},
        python="3.11.9",
        machine={"system": "Linux", "cores": 2},
        seconds=(StepTime(step="score users", seconds=7.4), StepTime(step="try protocols", seconds=61.0)),
    )
    results = folder / "results"
    results.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(record.model_dump_json(), "utf-8")
    rows = [row.model_dump(mode="json") for row in metrics()]
    (results / "metrics.json").write_text(json.dumps(rows), "utf-8")
    write_beside(results)
    cards = [card(found).model_dump(mode="json") for found in record.data]
    (results / "data_cards.json").write_text(json.dumps(cards), "utf-8")
    scored, all_protocols = users(), protocols() if tried is None else tried
    scored.to_parquet(results / "users.parquet")
    write_tree_summaries(results, dict(iter(scored.groupby("variant"))))
    all_protocols.to_parquet(results / "protocols.parquet")
    compare_protocols(results, all_protocols, () if simulated else PUBLISHED)
    example = {
        "user_id": "17",
        "ranking": list(LABELS),
        "items": {"ids": list(range(10)), "labels": list(LABELS)},
        "trees": {"straddlers_discarded": fitted(SMALL, 1), "straddlers_kept": fitted(bushy(6, 10), 2)},
    }
    (results / "example_tree.json").write_text(json.dumps(example), "utf-8")
    told = {"history": history(), "history_differences": history_differences()}
    for name, frame in {**of_features(), **told}.items():
        frame.to_parquet(results / f"{name}.parquet")
    (results / "sensitive_features.json").write_text("[]", "utf-8")
    shown = [{"user_id": str(user), "tree": fitted(split, user)} for user, split in ((3, SMALL), (5, bushy(3, 10)))]
    (results / "gallery.json").write_text(json.dumps({"trees": shown}), "utf-8")
    return folder


@pytest.fixture
def write_run(tmp_path: Path) -> WriteRun:
    """Write the folder of a finished sushi run, and return its path."""
    return partial(write, tmp_path / "run")


@pytest.fixture(scope="session")
def real_report(tmp_path_factory: pytest.TempPathFactory) -> Rendered:
    """The report of a run on data that do not count as simulated; not to be changed."""
    return render(write(tmp_path_factory.mktemp("real")))


@pytest.fixture(scope="session")
def simulated_report(tmp_path_factory: pytest.TempPathFactory) -> Rendered:
    """The report of a run on simulated and unpinned data; not to be changed."""
    return render(write(tmp_path_factory.mktemp("simulated"), simulated=True, unpinned=True))
