"""A first description of contest tables, drafted from the files themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from data_adapters.contests.tables import PREFIXES, ContestTables
from data_adapters.source import strict
from data_adapters.source.description import binary, categorical, numeric
from data_adapters.source.spelling import same_looks, unfit_name
from models.records.errors import UsageError
from models.records.features import Feature

NOT_NAMED = "is neither winner, loser nor --context"
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
SEPARATORS = (",", "\t", ";")
MOST_LEVELS = 20
LONGEST_LEVEL = 60
"""Characters of a level, and of a column's name."""
MOSTLY = 0.8
"""A column with at least this share of numbers is taken to be numeric."""
FIXED = {"item_id", "context_id", "comparison_id", "label"}
"""Columns of every pairwise table."""


class Table:
    """A delimited file with a header, whatever its columns mean."""

    def __init__(self, path: Path) -> None:
        """Read the file. Raises RawDataError if that fails, UsageError for empty, repeated or too long column names."""
        self.path = path
        self.separator = _separator(path)
        rows = strict.read_rows(path, separator=self.separator, quoted=True, encoding="UTF-8-SIG")
        self.names = rows.fields[0] if rows.fields else []
        self.ended = rows.ended
        if not rows.fields:
            raise UsageError(f"{path.name}: expected a header and rows, found an empty file.")
        if len(rows.fields) == 1:
            raise UsageError(f"{path.name}: expected rows below the header, found none.")
        if not self.names or any(not _is_name(name) or self.names.count(name) > 1 for name in self.names):
            raise UsageError(
                f"{path.name}: expected a header of different names, {LONGEST_LEVEL} characters each at most, "
                f"found {_listed(self.names)}."
            )
        spaced = [name for name in self.names if name != name.strip()]
        if spaced:
            raise UsageError(
                f"{path.name}: the column {spaced[0]!r} begins or ends with a space. Remove spaces around separators."
            )
        self.columns = rows.after_header(self.names).columns(self.names, final_break=False)

    def require(self, option: str, *names: str) -> None:
        """Raise UsageError for names that are not columns. option: the command-line option that they came with."""
        absent = [name for name in names if name not in self.names]
        if absent:
            raise UsageError(
                f"{option}: {self.path.name} has no column {_listed(absent)}. Its columns: {_listed(self.names)}."
            )

    def texts(self, *names: str) -> list[str]:
        """The texts of columns, one column after the other."""
        return [text for name in names for text in self.columns.texts[name]]


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A description of contest tables. left_out: for each column that is not read, the reason."""

    tables: ContestTables
    items: tuple[Feature, ...]
    contexts: tuple[Feature, ...]
    left_out: dict[str, str]


def draft(
    matches: Table,
    items: Table | None,
    *,
    winner: str,
    loser: str,
    item: str | None = None,
    contexts: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> Draft:
    r"""Describe a table of matches and, if there is one, of items.

    winner, loser, contexts: columns of the matches. item: the column of the items with their ids; found if None.
    leave_out: columns that are not features. missing: texts that mean a missing value, besides the empty one.
    A column of numbers is numeric; one of two texts, or of 0 and 1, binary; one of few texts categorical.
    Raises UsageError naming the columns that do not fit.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "fights.csv")
    ...     written = file.write_text("winner,loser,winner_size,loser_size\n1,2,9,7\n2,3,7,5\n")
    ...     found = draft(Table(file), None, winner="winner", loser="loser")
    >>> [(feature.name, feature.kind.value) for feature in found.items]
    [('size', 'numeric')]
    """
    matches.require("--winner", winner)
    matches.require("--loser", loser)
    matches.require("--context", *contexts)
    if len({winner, loser, *contexts}) < 2 + len(contexts):
        raise UsageError(
            f"{_listed([winner, loser, *contexts])}: the winner, the loser and each context need a column of their own."
        )
    everywhere = [*matches.names, *(items.names if items else [])]
    unknown = [name for name in leave_out if name not in everywhere]
    if unknown:
        raise UsageError(f"--leave-out: there is no column {_listed(unknown)}. There are: {_listed(everywhere)}.")
    if items is not None and items.separator != matches.separator:
        raise UsageError(
            f"{matches.path.name} has its columns separated by {matches.separator!r}, {items.path.name} by "
            f"{items.separator!r}. Give both the same separator."
        )
    gaps = ("", *missing)
    used = {winner, loser, *contexts}
    if items is None:
        of_items = {name: matches.texts(*columns) for name, columns in _paired(matches, used, leave_out).items()}
        used |= {prefix + name for name in of_items for prefix in PREFIXES.values()}
    else:
        item = item or _id_column(items, {*matches.texts(winner, loser)})
        items.require("--item", item)
        of_items = {name: items.texts(name) for name in items.names if name not in (item, *leave_out)}
    features, left_out = _features(of_items, gaps)
    of_contexts, unfit = _features({name: matches.texts(name) for name in contexts}, gaps)
    if unfit:
        raise UsageError("\n".join(f"--context {name}: the column {why}." for name, why in unfit.items()))
    if not features:
        raise UsageError(
            "No column can be a feature of the items. Name a file of items with --items, or call the columns of the "
            f"matches winner_NAME and loser_NAME.{''.join(f' {name} {why}.' for name, why in left_out.items())}"
        )
    named = {feature.name: column for column, feature in [*features.items(), *of_contexts.items()]}
    if len(named) < len(features) + len(of_contexts):
        named_alike = _listed([*features, *of_contexts])
        raise UsageError(f"{named_alike}: two of these columns get the same feature name. Rename one.")
    left_out |= {name: NOT_NAMED for name in matches.names if name not in used}
    left_out |= dict.fromkeys(leave_out, "is left out as asked")
    prefixes = ("",) if items else tuple(PREFIXES.values())
    ignored = [prefix + name for name in left_out for prefix in prefixes if prefix + name in everywhere]
    return Draft(
        tables=ContestTables(
            matches=matches.path.name,
            winner=winner,
            loser=loser,
            items=items.path.name if items else None,
            item=item or "item",
            columns={name: column for name, column in named.items() if name != column},
            ignored=tuple(dict.fromkeys([*ignored, *(name for name in left_out if name in everywhere)])),
            missing=gaps,
            separator=matches.separator,
            final_break=matches.ended and (items is None or items.ended),
        ),
        items=tuple(features.values()),
        contexts=tuple(of_contexts.values()),
        left_out=left_out,
    )


def _is_name(text: str) -> bool:
    return bool(text.strip()) and text.isprintable() and len(text) <= LONGEST_LEVEL


def _separator(path: Path) -> str:
    """The separator that the first line has most often."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            first = file.readline()
    except OSError as error:
        raise UsageError(f"{path}: the table cannot be read ({(error.strerror or str(error)).lower()}).") from error
    return max(SEPARATORS, key=first.count)


def _paired(matches: Table, used: set[str], leave_out: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The features that both sides of a match have, with their two columns. Raises UsageError if one side lacks one."""
    stems: dict[str, list[str]] = {}
    for name in matches.names:
        for prefix in PREFIXES.values():
            stem = name.removeprefix(prefix)
            if name.startswith(prefix) and stem and name not in used and not {name, stem} & set(leave_out):
                stems.setdefault(stem, []).append(name)
    single = [names[0] for names in stems.values() if len(names) == 1]
    if single:
        raise UsageError(
            f"{_listed(single)}: expected this column for both sides, winner_... and loser_... Or: --leave-out."
        )
    return {stem: (PREFIXES["winner"] + stem, PREFIXES["loser"] + stem) for stem in stems}


def _id_column(items: Table, ids: set[str]) -> str:
    """The one column that has every id of the matches. Raises UsageError if there is none, or more than one."""
    found = [name for name in items.names if ids <= set(items.columns.texts[name])]
    if len(found) != 1:
        best = max(items.names, key=lambda name: len(ids & set(items.columns.texts[name])))
        absent = sorted(ids - set(items.columns.texts[best]))
        why = f"{_listed(found)} all do" if found else f"{best} comes nearest, without {_listed(absent[:5])}"
        raise UsageError(
            f"{items.path.name}: expected one column with every winner and loser of the matches; {why}. Name it: --item"
        )
    return found[0]


def _features(columns: dict[str, list[str]], missing: Sequence[str]) -> tuple[dict[str, Feature], dict[str, str]]:
    """The columns as features, and why others are not. Raises UsageError for numbers with other texts among them."""
    features: dict[str, Feature] = {}
    unfit: dict[str, str] = {}
    for column, texts in columns.items():
        present = [text for text in texts if text not in missing]
        levels = sorted(set(present))
        numbers = [bool(NUMBER.fullmatch(text)) for text in present]
        name, what = _feature_name(column), " ".join(column.split())
        if len(levels) < 2:
            unfit[column] = "is the same everywhere" if levels else "is empty"
        elif all(numbers) and levels != ["0", "1"]:
            features[column] = numeric(name, what)
        elif any(map(DECIMAL_COMMA.fullmatch, present)) and all(
            is_number or DECIMAL_COMMA.fullmatch(text) for text, is_number in zip(present, numbers, strict=True)
        ):
            raise UsageError(
                f"{column}: the numbers have a decimal comma. Write them with a point. If {column} is no feature: "
                f"--leave-out {column!r}"
            )
        elif sum(numbers) >= MOSTLY * len(numbers) and levels != ["0", "1"]:
            other = sorted({text for text, is_number in zip(present, numbers, strict=True) if not is_number})
            raise UsageError(
                f"{column}: most values are numbers, but not {_listed(other[:5])}. If that means a missing value: "
                f"--missing {other[0]!r}. If {column} is not a feature: --leave-out {column!r}"
            )
        elif any(map(unfit_name, levels)):
            odd = next(filter(unfit_name, levels))
            raise UsageError(
                f"{column}: expected texts {unfit_name(odd)}, found {odd!r}. If it means a missing value: "
                f"--missing {odd!r}. If {column} is not a feature: --leave-out {column!r}"
            )
        elif same_looks(levels):
            twins = ", ".join(map(repr, sorted(same_looks(levels))))
            raise UsageError(
                f"{column}: two texts look the same and have different Unicode forms: {twins}. Write them alike."
            )
        elif any(len(level) > LONGEST_LEVEL or not level.isprintable() for level in levels):
            unfit[column] = "has long texts"
        elif len(levels) == 2:
            features[column] = binary(name, what, false=levels[0], true=levels[1])
        elif len(levels) > MOST_LEVELS or len(levels) == len(present):
            unfit[column] = f"has {len(levels):,} different texts"
        else:
            features[column] = categorical(name, what, tuple(levels))
    return features, unfit


def _feature_name(column: str) -> str:
    """A column's name in small letters, digits and underscores."""
    name = re.sub(r"[^0-9a-z]+", "_", column.lower()).strip("_")
    if not name or name[0].isdigit():
        name = f"feature_{name}".rstrip("_")
    return f"{name}_value" if name in FIXED else name


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
