"""How often the 95% intervals of the reports contain what is true, on simulated data of the shape of each study.

    python tests/benchmarks/calibration.py --shape chameleon --sets 200 --folder DIR    (again to resume)
    python tests/benchmarks/calibration.py --folder DIR --write docs/calibration.md     (the table of all shapes there)

Without options: a few data sets of every shape, to see that it works. One process, one thread.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from models.scores.intervals import OTHER_PATIENTS
from tests.benchmarks.shapes.advantages import SHAPES as ADVANTAGES
from tests.benchmarks.shapes.choices import ChoiceShape
from tests.benchmarks.shapes.duels import SHAPES as DUELS
from tests.benchmarks.shapes.inbox import InboxShape
from tests.benchmarks.shapes.told import Group, Shape, Told

SHAPES: dict[str, Shape] = {**DUELS, **ADVANTAGES, "choices": ChoiceShape(), "inbox": InboxShape()}
WITHIN_GROUP = {"other matches among the same items", OTHER_PATIENTS}
"""What is fixed in a group of data sets: the items, or the tree that ranks the patients."""
FEWEST, MOST, MOST_WRONG, WANTED = 0.90, 0.98, 0.05, 200


class Line(NamedTuple):
    """The intervals of one number: how many, how many contain the truth, their median width, and wrong verdicts."""

    shape: str
    name: str
    over: str
    sets: int
    cover: float
    width: float
    truth: float
    wrong: float | None


def main() -> None:
    """Simulate, print the table, and write it if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, action="append", help="shape to simulate; all if not given")
    parser.add_argument("--sets", type=int, default=8, help="number of data sets of each shape")
    parser.add_argument("--folder", type=Path, help="keeps what is simulated, and resumes from it")
    parser.add_argument("--write", type=Path, help="file for the table of what is in the folder; nothing is simulated")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as aside:
        folder = given.folder or Path(aside)
        folder.mkdir(parents=True, exist_ok=True)
        if given.write is None:
            for shape in given.shape or SHAPES:
                simulate(shape, given.sets, folder)
        lines = [line for shape in SHAPES for line in lines_of(shape, list(read_groups(folder / f"{shape}.jsonl")))]
    print(as_table(lines))
    if given.write is not None:
        given.write.parent.mkdir(exist_ok=True)
        given.write.write_text(document(lines), encoding="utf-8")


def simulate(shape: str, sets: int, folder: Path) -> None:
    """Simulate data sets in groups until there are so many; a line of the shape's file is a group."""
    path = folder / f"{shape}.jsonl"
    done = list(read_groups(path))
    n, seed = sum(len(group.told) for group in done), len(done)
    while n < sets:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as work:
            group = SHAPES[shape].group(seed, Path(work))
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(group) + "\n")
        n, seed = n + len(group.told), seed + 1
        print(f"{shape}: {n} of {sets} data sets, {time.perf_counter() - start:.1f} s", flush=True)


def read_groups(path: Path) -> Iterator[Group]:
    """The groups of a shape that were simulated before; the last line may have been cut off."""
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            told, parts = json.loads(line)
        except ValueError:
            return
        yield Group([[Told(*each) for each in one] for one in told], parts)


def lines_of(shape: str, groups: list[Group]) -> list[Line]:
    """The lines of a shape, one for each number and each thing that its interval is over."""
    everywhere = truths([parts for group in groups for parts in group.parts])
    found: dict[tuple[str, str], list[tuple[Told, float]]] = defaultdict(list)
    for group in groups:
        here = truths(group.parts)
        for told in (each for one in group.told for each in one):
            truth = here if told.over in WITHIN_GROUP else everywhere
            found[told.name, told.over].append((told, truth[told.name]))
    return [line_of(shape, name, over, each) for (name, over), each in found.items()]


def truths(parts: list[dict[str, tuple[float, float]]]) -> dict[str, float]:
    """The mean numerator over the mean denominator of each number."""
    return {
        name: sum(each[name][0] for each in parts if name in each)
        / sum(each[name][1] for each in parts if name in each)
        for name in dict.fromkeys(name for each in parts for name in each)
    }


def line_of(shape: str, name: str, over: str, found: list[tuple[Told, float]]) -> Line:
    """One line. A verdict is wrong if the whole interval is on one side of the threshold, and the truth is not."""
    inside, widths, wrong = [], [], []
    for told, truth in ((told, truth) for told, truth in found if told.known):
        lower = -float("inf") if told.lower is None else told.lower
        upper = float("inf") if told.upper is None else told.upper
        inside.append(lower <= truth <= upper)
        widths.append(upper - lower)
        if told.threshold is not None:
            wrong.append((lower > told.threshold >= truth) or (upper < told.threshold <= truth))
    share_wrong = sum(wrong) / len(wrong) if wrong else None
    truth = median(truth for _, truth in found)
    return Line(shape, name, over, len(found), sum(inside) / len(inside), median(widths), truth, share_wrong)


def as_table(lines: list[Line]) -> str:
    """The lines as a Markdown table."""
    head = "| shape | number | interval over | data sets | truth | contain it | median width | decided wrongly |"
    rows = [head, "|---|---|---|---|---|---|---|---|"]
    for line in lines:
        wrong = "" if line.wrong is None else f"{line.wrong:.1%}"
        rows.append(
            f"| {line.shape} | {line.name} | {line.over} | {line.sets} | {line.truth:.3g} | {line.cover:.1%} | "
            f"{'unbounded' if line.width == float('inf') else f'{line.width:.2g}'} | {wrong} |"
        )
    return "\n".join(rows)


def document(lines: list[Line]) -> str:
    """The page of the documentation: what is simulated, what is true, and the table with its exceptions."""
    few = [line for line in lines if line.cover < FEWEST]
    wide = [line for line in lines if line.cover > MOST]
    wrong = [line for line in lines if (line.wrong or 0.0) > MOST_WRONG]
    return INTRODUCTION + "\n".join(
        [
            as_table(lines),
            "",
            *_named(f"Fewer than {WANTED} data sets so far:", [line for line in lines if line.sets < WANTED], "sets"),
            *_named(f"Below {FEWEST:.0%}, so shown without a verdict:", few, "cover"),
            *_named(f"Decided wrongly in more than {MOST_WRONG:.0%}:", wrong, "wrong"),
            *_named(
                f"Above {MOST:.0%}, so wider than they need to be. Such an interval leaves open what a narrower one "
                "would decide; the table gives its width:",
                wide,
                "cover",
            ),
        ]
    )


def _named(heading: str, lines: list[Line], figure: str) -> list[str]:
    """A heading with a list of lines and one figure of each; `none` for an empty list."""
    if not lines:
        return [f"{heading} none.", ""]
    if figure == "sets":
        shapes = {line.shape: line.sets for line in lines}
        return [heading, "", *(f"- {shape}: {sets}" for shape, sets in shapes.items()), ""]
    named = (f"- {line.shape}, {line.name} (over {line.over}): {getattr(line, figure):.1%}" for line in lines)
    return [heading, "", *named, ""]


INTRODUCTION = """# How often the intervals contain the truth

Made by `python tests/benchmarks/calibration.py --write docs/calibration.md`, not by hand. Every interval of a report is
told with what it is over. Here it is measured, on simulated data of the shape of each study, how often a 95% interval
contains the truth over what it says it is over, and how often a verdict that follows from it is wrong.

- **The truth** is what the same analysis finds on average: the mean over many data sets, drawn anew with *the same
  items* (for an interval over other matches among the same items), with *the same tree* (over other patients), or with
  *everything drawn anew* (for all others). For a quotient, such as the importance of one feature divided by that of
  another, it is the mean of the one divided by the mean of the other.
- **Decided wrongly**: the whole interval lies on one side of the threshold of the finding, or of zero for a difference,
  and the truth lies on the other.
- A difference of which no interval is known, because nothing varies, is told as such and is left out of the shares.
- With 200 data sets a share of 95% has a standard error of 1.5 points, with 50 of 3.1. The data sets of duels come in
  groups of four with the same items, so that for other items it is larger. Their intervals are from 10 refits, where a
  study does 20: a study's are narrower.
- Settings of the kernel models (lengthscales, penalty) are fixed, as they are in the refits of a study. That a study
  chooses them from the data is not part of its intervals.
- *chameleon*: 35 items, 106 duels, five features, of which two are equally important and two irrelevant; *synthetic*:
  45 items in three clusters, 200 duels by the rule of the study, with its findings; *tennis*: 40 players with a skill
  that no feature tells, 200 matches in 25 tournaments, whose surface changes what matters; *choices*: 80 respondents
  with tastes of their own and 10 choices each; *advantage*: two models on the same splits, three runs of five folds of
  106 duels, or five parts of a tenth of 300; *inbox*: 30 patients whose messages are ranked by a tree that was fitted
  to another inbox.

"""


if __name__ == "__main__":
    main()
