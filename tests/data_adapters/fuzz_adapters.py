"""Mutated raw files of all adapters: each is refused in words, or read as an independent reading reads it.

python -m tests.data_adapters.fuzz_adapters --files 1000 --seed 0
"""

from __future__ import annotations

import argparse
import shutil
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from data_adapters.catalogue import adapter, names
from data_adapters.contests.adapter import contest_adapter
from data_adapters.contests.draft import Table, draft
from data_adapters.source.adapter import Adapter
from data_adapters.source.build import build
from data_adapters.source.description import Dataset, RawFile
from data_adapters.source.locate import locate
from data_adapters.source.simulation import SIMULATED, simulate
from data_adapters.table.pairwise_table import PairwiseTable
from models.records.errors import PrefstudyError
from models.records.manifest import Licence
from tests.data_adapters import fuzz_oracles
from tests.data_adapters.choice.tea import FEATURES, HEAD, LONG, LONG_HEADER, LONG_ROWS, WRITERS, file_part

HOSTILE = (
    "", " ", "nan", "NaN", "inf", "-1", "1_000", " 1", "1 ", "01", "1.0", "1e400", "9" * 400, "\x1b[31m", "\u202e",
    "\x00", "\x0b", "\x85", "\u00e9", "e\u0301", '"', "a,b", "a\tb", "=1+1", "None", "0x10", "-0", "\uff11", "\ufeff",
    "</td>", "../x", "True", "A", "2", "1000000000000000000000",
)  # fmt: skip
FORMS = tuple(WRITERS)


@dataclass(frozen=True)
class Source:
    """Raw files to mutate, how they are read, and an independent reading of who won."""

    name: str
    adapter: Adapter
    folder: Path
    oracle: Callable[[Path], Counter[tuple[str, ...]]]
    of_table: Callable[[PairwiseTable], Counter[tuple[str, ...]]] = fuzz_oracles.winners


def sources(folder: Path) -> list[Source]:
    """All adapters with simulated files, a study of contests as it is drafted, and choices in every format."""
    found = []
    for name in names():
        source, raw = adapter(name), folder / name
        if source.simulate is None:
            continue
        simulate(source, raw, seed=1, users=8)
        (raw / SIMULATED).unlink()
        is_choice = name in {"bela", "presidential", "conjoint"}
        oracle = fuzz_oracles.choices(source.dataset.raw[0].name, name) if is_choice else fuzz_oracles.ORACLES[name]
        found.append(Source(name, source, raw, oracle, fuzz_oracles.tasks if is_choice else fuzz_oracles.winners))
    found.append(_drafted(folder / "drafted"))
    return [*found, *(_tea(folder / form, form) for form in FORMS)]


def _drafted(raw: Path) -> Source:
    """A study of contests, described from its files as `prefstudy new` describes it."""
    raw.mkdir()
    rng = np.random.default_rng(2)
    ids = [f"b{number}" for number in range(9)]
    kinds = ("red", "dark blue", "green")
    lines = [f"{each},{rng.integers(20, 90)},{kinds[place % 3]}" for place, each in enumerate(ids)]
    (raw / "beetles.csv").write_text("\n".join(["id,size,colour", *lines]) + "\n")
    pairs = [rng.permutation(9)[:2] for _ in range(25)]
    fights = [f"{ids[one]},{ids[other]},{('wet', 'dry')[one % 2]}" for one, other in pairs]
    (raw / "fights.csv").write_text("\n".join(["won,lost,ground", *fights]) + "\n")
    found = draft(
        Table(raw / "fights.csv"), Table(raw / "beetles.csv"), winner="won", loser="lost", contexts=["ground"]
    )
    dataset = Dataset(
        name="beetles",
        title="Fights of beetles",
        citation="own data",
        licence=Licence(name="own", terms="Ask."),
        raw=(RawFile(name="fights.csv", own=True), RawFile(name="beetles.csv", own=True)),
        side="random",
        items=found.items,
        contexts=found.contexts,
    )
    return Source("drafted", contest_adapter(dataset, found.tables), raw, fuzz_oracles.delimited("fights.csv", 0, 1))


def _tea(raw: Path, form: str) -> Source:
    raw.mkdir()
    WRITERS[form](raw / f"tea.{form}", LONG_HEADER, LONG_ROWS)
    (raw / "tea.toml").write_text(HEAD + file_part(form) + LONG + FEATURES.format(""), encoding="utf-8")
    source = adapter("conjoint", mapping=raw / "tea.toml")
    oracle = fuzz_oracles.choices(f"tea.{form}", mapping=raw / "tea.toml")
    return Source(f"tea.{form}", source, raw, oracle, fuzz_oracles.tasks)


def mutate(rng: np.random.Generator, path: Path) -> str:
    """Change a file in one way, and say how."""
    content = path.read_bytes()
    if path.name.startswith("tea.") and rng.random() < 0.7:
        _tea_with_other_cells(rng, path)
        return "other cells"
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = ""
    what = str(rng.choice([*BYTES, *(LINES if "\n" in text and "\0" not in text else [])]))
    if what in BYTES:
        path.write_bytes(BYTES[what](rng, content))
    else:
        lines = text.split("\n")
        LINES[what](rng, lines)
        path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    return what


def _flipped(rng: np.random.Generator, content: bytes) -> bytes:
    found = bytearray(content)
    for at in rng.integers(len(found), size=int(rng.integers(1, 4))):
        found[at] ^= 1 << int(rng.integers(8))
    return bytes(found)


def _encoded(rng: np.random.Generator, content: bytes) -> bytes:
    text = content.decode("utf-8", "replace").replace("e", "\u00e9", 1)
    return text.encode(str(rng.choice(["utf-16", "latin-1", "utf-8-sig", "cp1252"])), "replace")


BYTES: dict[str, Callable[[np.random.Generator, bytes], bytes]] = {
    "bytes flipped": _flipped,
    "cut off": lambda rng, content: content[: int(rng.integers(len(content)))],
    "encoded": _encoded,
    "empty": lambda _rng, _content: b"",
}


def _separator(lines: list[str]) -> str:
    return max(",\t; ", key=lines[-2].count)


def _swap_columns(rng: np.random.Generator, lines: list[str]) -> None:
    separator, first = _separator(lines), int(rng.integers(2))
    one, other = rng.integers(lines[-2].count(separator) + 1, size=2)
    for at in range(first, len(lines)):
        cells = lines[at].split(separator)
        if max(one, other) < len(cells):
            cells[one], cells[other] = cells[other], cells[one]
        lines[at] = separator.join(cells)


def _change_cells(rng: np.random.Generator, lines: list[str]) -> None:
    separator = _separator(lines)
    for at in rng.integers(len(lines), size=int(rng.integers(1, 4))):
        cells = lines[at].split(separator)
        cells[int(rng.integers(len(cells)))] = str(rng.choice(HOSTILE))
        lines[at] = separator.join(cells)


def _swap_lines(rng: np.random.Generator, lines: list[str]) -> None:
    one, other = rng.integers(len(lines), size=2)
    lines[one], lines[other] = lines[other], lines[one]


LINES: dict[str, Callable[[np.random.Generator, list[str]], None]] = {
    "line doubled": lambda rng, lines: lines.insert(
        int(rng.integers(len(lines))), lines[int(rng.integers(len(lines)))]
    ),
    "line dropped": lambda rng, lines: lines.__delitem__(int(rng.integers(len(lines)))),
    "lines swapped": _swap_lines,
    "cells changed": _change_cells,
    "columns swapped": _swap_columns,
}


def _tea_with_other_cells(rng: np.random.Generator, path: Path) -> None:
    """The same choices with some cells changed, or rows dropped, doubled or in another order, in the same format."""
    rows = [list(row) for row in LONG_ROWS]
    for _ in range(int(rng.integers(1, 4))):
        at, column = int(rng.integers(len(rows))), int(rng.integers(len(LONG_HEADER)))
        kind = int(rng.integers(5))
        if kind == 0:
            rows.pop(at)
        elif kind == 1:
            rows.insert(int(rng.integers(len(rows))), list(rows[at]))
        elif kind == 2:
            rng.shuffle(rows)
        else:
            value = str(rng.choice(HOSTILE)) if kind == 3 else rows[int(rng.integers(len(rows)))][column]
            rows[at][column] = value
    try:
        WRITERS[path.suffix[1:]](path, LONG_HEADER, rows)
    except Exception:  # a format that cannot hold the value
        WRITERS[path.suffix[1:]](path, LONG_HEADER, LONG_ROWS)


@dataclass(frozen=True)
class Outcome:
    """What became of one mutated file: refused, read, or a fault with its description."""

    kind: str
    what: str


def attempt(source: Source, seed: int, number: int, folder: Path) -> Outcome:
    """Mutate one file of a source, build its tables and compare them with the independent reading."""
    rng = np.random.default_rng([seed, number])
    raw = Path(shutil.copytree(source.folder, folder / str(number)))
    name = str(rng.choice([file.name for file in source.adapter.dataset.raw]))
    label = f"{number} {source.name}/{name}: {mutate(rng, raw / name)}"
    try:
        built = build(source.adapter, locate(source.adapter, raw, allow_unpinned=True))
    except PrefstudyError as error:
        bad = [character for character in str(error) if not character.isprintable() and character != "\n"]
        return Outcome("fault", f"{label}: raw {bad[0]!r} in the message") if bad else Outcome("refused", str(error))
    except Exception:
        return Outcome("fault", f"{label}\n{traceback.format_exc()}")
    finally:
        kept = raw if raw.exists() else None
    try:
        expected = source.oracle(raw)
    except Exception:
        return Outcome("fault", f"{label}: read, but not by the independent reading\n{traceback.format_exc()}")
    found: Counter[tuple[str, ...]] = sum(map(source.of_table, built), Counter())
    shutil.rmtree(str(kept))
    if found != expected:
        odd = list(((found - expected) + (expected - found)).items())[:4]
        return Outcome("fault", f"{label}: differs silently: {odd}")
    return Outcome("read", label)


def fuzz(files: int, seed: int) -> list[Outcome]:
    """The outcomes of mutated files, one source after the other."""
    with TemporaryDirectory() as folder:
        made = sources(Path(folder))
        (Path(folder) / "mutated").mkdir()
        return [attempt(made[n % len(made)], seed, n, Path(folder) / "mutated") for n in range(files)]


def main() -> None:
    """Print how many files were refused and read, and every fault; exit with 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    outcomes = fuzz(options.files, options.seed)
    for outcome in outcomes:
        if outcome.kind == "fault":
            sys.stdout.write(f"{outcome.what}\n")
    counts = Counter(outcome.kind for outcome in outcomes)
    sys.stdout.write(f"{counts['refused']} refused, {counts['read']} read as they are, {counts['fault']} faults\n")
    sys.exit(counts["fault"] > 0)


if __name__ == "__main__":
    main()
