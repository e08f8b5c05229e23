"""Simulated choice experiments in the layout of a mapping: invented respondents who choose by planted rules."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np

from data_adapters.choice.mapping import SIDE, ChoiceMapping, FeatureColumn, LongLayout
from data_adapters.choice.mapping_file import MappingFile
from data_adapters.source.planted import Preference, Rule
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.errors import UsageError

FIRST_RESPONDENT = 101
NOISE = 0.05
NOT_SHOWN = -1
STEPS = 5
"""Number of different values drawn between a minimum and a maximum."""
TYPES = 3


@dataclass(frozen=True, kw_only=True)
class Design:
    """The design of a simulated choice experiment.

    types: the first rules of each taste type. A rule for every attribute that they do not order completely follows, in
    the mapping's order; it keeps the direction of the type's rule for the attribute, or prefers the higher value or
    later level. Without types there are up to three, each with another attribute first.
    differing: number of attributes in which the two profiles of a task differ; None draws each profile on its own.
    shown: the smallest and the largest number of attributes shown to a respondent; None shows all.
    opt_outs: the average share of opt-outs. refusers: the share of respondents who opt out more often than is allowed.
    """

    respondents: int = 200
    tasks: int = 12
    types: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    differing: int | None = None
    shown: tuple[int, int] | None = None
    opt_outs: float = 0.15
    refusers: float = 0.0


@dataclass(frozen=True, eq=False)
class _Options:
    """The values of a feature: k texts of the file, and the k numbers by which rules compare them."""

    feature: FeatureColumn
    texts: tuple[str, ...]
    numbers: FloatArray


def simulate_choices(source: MappingFile, design: Design, folder: Path, *, seed: int, users: int | None) -> Preference:
    """Write the file that the mapping describes into `folder`, and return the planted preference.

    Raises UsageError if it is not a csv, or if the mapping does not say what the values of a feature are.
    """
    mapping = source.mapping
    if mapping.file.format != "csv":
        raise UsageError(f"{source.name}: only csv files are simulated, and file.format is {mapping.file.format!r}.")
    rng = np.random.default_rng(seed)
    n = design.respondents if users is None else users
    attributes = [_options(source, attribute) for attribute in mapping.attributes]
    types = {name: _completed(rules, attributes) for name, rules in (design.types or _types_of(attributes)).items()}
    profiles = _profiles(rng, design, attributes, n)
    taste = rng.integers(len(types), size=n)
    left_wins = _choices(rng, attributes, profiles, list(types.values()), np.repeat(taste, design.tasks))
    opted_out = _opt_outs(rng, mapping, design, n) if mapping.layout.opt_out is not None else np.zeros_like(left_wins)
    people = _people(rng, source, n)
    rows = chain.from_iterable(
        _rows_of_task(mapping, attributes, people[task // design.tasks], task % design.tasks, *shown)
        for task, shown in enumerate(zip(profiles.tolist(), left_wins.tolist(), opted_out.tolist(), strict=True))
    )
    _write(folder / mapping.file.name, mapping.file.separator, rows)
    names = list(types)
    ids = [person[mapping.layout.respondent] for person in people]
    return Preference(
        words=_words(types, mapping, design),
        types=types,
        type_of={who: names[code] for who, code in zip(ids, taste.tolist(), strict=True)},
        noise=NOISE,
    )


def _options(source: MappingFile, feature: FeatureColumn) -> _Options:
    if feature.kind != "numeric":
        levels = feature.levels or dict(feature.indicators or {})
        texts = tuple(next(text for text, label in levels.items() if label == wanted) for wanted in feature.labels)
        return _Options(feature, texts, np.arange(len(texts), dtype=np.float64))
    numbers = feature.values
    if numbers is None:
        if feature.minimum is None or feature.maximum is None:
            raise UsageError(
                f"{source.name}: {feature.name} cannot be simulated, because neither its values nor its minimum and "
                f"maximum are given."
            )
        numbers = tuple(np.linspace(feature.minimum, feature.maximum, STEPS).tolist())
    return _Options(feature, tuple(f"{number:.10g}" for number in numbers), np.array(numbers))


def _types_of(attributes: Sequence[_Options]) -> dict[str, tuple[Rule, ...]]:
    """Up to three taste types, each with a different deciding attribute."""
    names = [options.feature.name for options in attributes[:TYPES]]
    return {f"{name} first": (Rule(feature=name, prefers="high"),) for name in names}


def _completed(rules: Sequence[Rule], attributes: Sequence[_Options]) -> tuple[Rule, ...]:
    """The rules, followed by one for each attribute that no rule orders completely."""
    settled = {rule.feature for rule in rules if rule.cut is None}
    cut = {rule.feature: rule.prefers for rule in rules}
    others = [options.feature.name for options in attributes if options.feature.name not in settled]
    return (*rules, *(Rule(feature=name, prefers=cut.get(name, "high")) for name in others))


def _profiles(rng: np.random.Generator, design: Design, attributes: Sequence[_Options], n: int) -> IntArray:
    """The option of each attribute, for the left and right profile of every task, (n * tasks, 2, d)."""
    size, d = n * design.tasks, len(attributes)
    counts = np.array([len(options.texts) for options in attributes])
    profiles = rng.integers(counts, size=(size, 2, d))
    if design.differing is not None:
        other = (profiles[:, 0] + rng.integers(1, np.maximum(counts, 2), size=(size, d))) % counts
        differs = rng.random((size, d)).argsort(axis=1) < design.differing
        profiles[:, 1] = np.where(differs, other, profiles[:, 0])
    if design.shown is not None:
        least, most = design.shown
        how_many = rng.integers(least, most, size=n, endpoint=True)
        shown = rng.random((n, d)).argsort(axis=1) < how_many[:, None]
        profiles[~np.repeat(shown, design.tasks, axis=0)[:, None].repeat(2, axis=1)] = NOT_SHOWN
    return profiles


def _choices(
    rng: np.random.Generator,
    attributes: Sequence[_Options],
    profiles: IntArray,
    types: Sequence[Sequence[Rule]],
    taste: IntArray,
) -> BoolArray:
    """Whether the left profile is preferred, (n,). The first rule that separates the two decides, or else a coin."""
    place = {options.feature.name: position for position, options in enumerate(attributes)}
    left_wins = rng.random(len(profiles)) < 0.5
    for code, rules in enumerate(types):
        undecided = taste == code
        for rule in rules:
            options = profiles[:, :, place[rule.feature]]
            numbers = attributes[place[rule.feature]].numbers[options]
            answers = numbers if rule.cut is None else (numbers >= rule.cut).astype(np.float64)
            decides = undecided & (answers[:, 0] != answers[:, 1]) & (options != NOT_SHOWN).all(axis=1)
            left_wins[decides] = ((answers[:, 0] > answers[:, 1]) == (rule.prefers == "high"))[decides]
            undecided &= ~decides
    return left_wins ^ (rng.random(len(profiles)) < NOISE)


def _opt_outs(rng: np.random.Generator, mapping: ChoiceMapping, design: Design, n: int) -> BoolArray:
    """Whether each task ends in an opt-out, (n * tasks,). Only refusers exceed the number that the mapping allows."""
    most = int((mapping.most_opt_outs if mapping.most_opt_outs is not None else 1.0) * design.tasks)
    times = np.minimum(rng.binomial(design.tasks, rng.beta(1, 1 / design.opt_outs - 1, size=n)), most)
    refusers = rng.permutation(n)[: round(design.refusers * n)]
    times[refusers] = rng.integers(min(most + 1, design.tasks), design.tasks, size=len(refusers), endpoint=True)
    return (rng.random((n, design.tasks)).argsort(axis=1) < times[:, None]).ravel()


def _people(rng: np.random.Generator, source: MappingFile, n: int) -> list[dict[str, str]]:
    """The cells of each respondent: an id and the features."""
    people = [{source.mapping.layout.respondent: str(FIRST_RESPONDENT + position)} for position in range(n)]
    for feature in source.mapping.respondents:
        options = _options(source, feature)
        drawn = rng.integers(len(options.texts), size=n).tolist()
        for person, option in zip(people, drawn, strict=True):
            person.update(_cells(feature, options.texts[option]))
    return people


def _rows_of_task(
    mapping: ChoiceMapping,
    attributes: Sequence[_Options],
    person: Mapping[str, str],
    index: int,
    profiles: Sequence[Sequence[int]],
    left_wins: bool,
    opted_out: bool,
) -> Iterator[dict[str, str]]:
    """The rows of one task: of each alternative in the long layout, else a single one."""
    layout = mapping.layout
    start = {layout.respondent: person[layout.respondent]} | ({layout.task: str(index + 1)} if layout.task else {})
    outcome = 2 if opted_out else 0 if left_wins else 1
    if isinstance(layout, LongLayout):
        names = [layout.left, layout.right, *([] if layout.opt_out is None else [layout.opt_out])]
        for position, name in enumerate(names):
            own = {} if layout.alternative is None or name is None else {layout.alternative: name}
            shown = profiles[position] if position < len(profiles) else None
            cells = _cells_of_profile(mapping, attributes, shown, "")
            chosen = layout.chosen_values[0] if outcome == position else layout.other_values[0]
            yield {**start, **own, **cells, layout.chosen: chosen, **person}
    else:
        sides = [
            _cells_of_profile(mapping, attributes, shown, side)
            for shown, side in zip(profiles, layout.sides, strict=True)
        ]
        choice = (layout.left, layout.right, layout.opt_out or "")[outcome]
        yield {**start, **sides[0], **sides[1], layout.choice: choice, **person}


def _cells_of_profile(
    mapping: ChoiceMapping, attributes: Sequence[_Options], profile: Sequence[int] | None, side: str
) -> dict[str, str]:
    """The cells of a profile, or empty ones for the opt-out."""
    cells: dict[str, str] = {}
    for position, options in enumerate(attributes):
        feature = options.feature
        if profile is None:
            cells |= dict.fromkeys(feature.columns, "")
        elif profile[position] == NOT_SHOWN:
            cells |= dict.fromkeys(feature.columns, [*feature.missing, *mapping.missing][0])
        else:
            cells |= _cells(feature, options.texts[profile[position]])
    return {column.replace(SIDE, side): text for column, text in cells.items()}


def _cells(feature: FeatureColumn, text: str) -> dict[str, str]:
    if feature.column is not None:
        return {feature.column: text}
    return {column: "1" if column == text else "0" for column in feature.columns}


def _write(path: Path, separator: str, rows: Iterator[dict[str, str]]) -> None:
    first = next(rows)
    with path.open("x", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(first), delimiter=separator, lineterminator="\n")
        writer.writeheader()
        writer.writerow(first)
        writer.writerows(rows)


def _words(types: Mapping[str, Sequence[Rule]], mapping: ChoiceMapping, design: Design) -> str:
    described = "; ".join(f"{name}: {', then '.join(map(_rule_in_words, rules[:3]))}" for name, rules in types.items())
    opting_out = (
        f" They opt out of {design.opt_outs:.0%} of the tasks on average, whatever is shown."
        if mapping.layout.opt_out is not None
        else ""
    )
    return (
        f"Of two profiles the one that the first rule to tell them apart prefers is chosen, and a coin decides where "
        f"none does. There are {len(types)} taste types, and each respondent is of one drawn at random. Their first "
        f"rules are: {described}. Attributes without a number compare by the position of their levels. In {NOISE:.0%} "
        f"of the tasks the other profile is chosen.{opting_out}"
    )


def _rule_in_words(rule: Rule) -> str:
    if rule.cut is None:
        return f"{rule.prefers} {rule.feature}"
    return f"{rule.feature} {'of at least' if rule.prefers == 'high' else 'below'} {rule.cut:g}"
