"""The sentence that a comparison earns: better, no difference shown, or cannot be told. No other module writes one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from models.scores.comparing import Difference, Outcome
from reports.page.wording import between, capital, change, decimals_to_tell, fixed, listed


def interval_text(difference: Difference, *, scale: float = 100, decimals: int = 1) -> str:
    """`95% interval 1.0 to 5.0, over other users`, or that no calibrated one is known.

    >>> interval_text(Difference(estimate=0.03, lower=0.01, upper=0.05, over="other users"))
    '95% interval 1.0 to 5.0, over other users'
    """
    if difference.lower is None or difference.upper is None:
        return f"no calibrated interval over {difference.over} is known"
    return (
        f"95% interval {between(scale * difference.lower, scale * difference.upper, decimals)}, over {difference.over}"
    )


def compared(
    first: str,
    second: str,
    difference: Difference,
    *,
    measure: str = "accuracy",
    unit: str = " points",
    scale: float = 100,
    decimals: int = 1,
) -> str:
    """One sentence about the first number minus the second.

    measure: noun of the number; unit: what follows the scaled difference; scale: 100 turns shares into points.
    decimals: more are shown where a bound would round to zero, so that the sentence can be checked against it.

    >>> found = Difference(estimate=0.03, lower=0.01, upper=0.05, over="other users")
    >>> compared("the tree", "the logit", found)
    'The tree has a higher accuracy than the logit, by 3.0 points (95% interval 1.0 to 5.0, over other users).'
    >>> compared("the logit", "the tree", found.reversed)
    'The logit has a lower accuracy than the tree, by 3.0 points (95% interval 1.0 to 5.0, over other users).'
    >>> print(compared("a", "b", Difference(estimate=0.03, lower=-0.01, upper=0.07, over="other users")))
    These data show no difference in accuracy between a and b: the first minus the second is 3.0 points (95% interval \
−1.0 to 7.0, over other users).
    >>> compared("a", "b", Difference(estimate=0.03, over="other users"))
    'Whether a or b has the higher accuracy cannot be told: no calibrated interval over other users is known.'
    >>> compared("a", "b", Difference(estimate=0.0002, lower=0.0001, upper=0.0003, over="other users"))
    'A has a higher accuracy than b, by 0.02 points (95% interval 0.01 to 0.03, over other users).'
    >>> compared("a", "b", Difference(estimate=0.0, over="other users"))
    'A and b have the same accuracy in these data.'
    """
    outcome = difference.outcome
    if difference.estimate is None or difference.lower is None or difference.upper is None or outcome == "unknown":
        if difference.estimate == 0:
            return f"{capital(first)} and {second} have the same {measure} in these data."
        about = interval_text(difference, scale=scale, decimals=decimals)
        return f"Whether {first} or {second} has the higher {measure} cannot be told: {about}."
    shown = difference.reversed if outcome == "lower" else difference
    decimals = max(decimals_to_tell(scale * bound, decimals) for bound in (difference.lower, difference.upper))
    size = fixed(scale * (shown.estimate or 0.0), decimals)
    about = interval_text(shown, scale=scale, decimals=decimals)
    if outcome == "not_shown":
        return (
            f"These data show no difference in {measure} between {first} and {second}: the first minus the second is "
            f"{size}{unit} ({about})."
        )
    return f"{capital(first)} has a {outcome} {measure} than {second}, by {size}{unit} ({about})."


def by_case(first: str, second: str, cases: Mapping[Outcome, Sequence[str]], *, measure: str = "accuracy") -> str:
    """Sentences on the first number minus the second in several cases, by what their intervals show.

    >>> print(by_case("the tree", "the logit", {"lower": ["A", "B"], "higher": ["C"], "not_shown": ["D"]}))
    The tree has a lower accuracy than the logit on A and B, and a higher one on C. On D these data show no difference.
    >>> by_case("the tree", "the logit", {"unknown": ["A"]})
    'Whether the tree or the logit has the higher accuracy cannot be told on A: no interval is known.'
    """
    sides: tuple[Outcome, ...] = ("lower", "higher")
    shown = [
        f"a {outcome} {'one' if number else measure}{'' if number else f' than {second}'} on {listed(cases[outcome])}"
        for number, outcome in enumerate(outcome for outcome in sides if cases.get(outcome))
    ]
    sentences = [f"{capital(first)} has {', and '.join(shown)}."] if shown else []
    if unclear := cases.get("not_shown"):
        between = "" if shown else f" in {measure} between {first} and {second}"
        sentences.append(f"On {listed(unclear)} these data show no difference{between}.")
    if unknown := cases.get("unknown"):
        sentences.append(
            f"Whether {first} or {second} has the higher {measure} cannot be told on {listed(unknown)}: no interval is "
            "known."
        )
    return " ".join(sentences)


def times_as_fast(first: str, second: str, ratio: Difference) -> str:
    """One sentence on the time of the second over that of the first; it compares only where the interval excludes 1.

    >>> found = Difference(estimate=12.6, lower=4.7, upper=34.0, over="other functions")
    >>> times_as_fast("the tree", "the process", found)
    'The tree is 12.6 times as fast as the process (95% interval 4.7 to 34.0, over other functions).'
    >>> times_as_fast("a", "b", Difference(estimate=1.2, lower=0.7, upper=2.0, over="other functions"))
    'These times do not show whether a or b is faster: 1.2 (95% interval 0.7 to 2.0, over other functions).'
    """
    about = interval_text(ratio, scale=1)
    if ratio.estimate is None or ratio.lower is None or ratio.upper is None:
        return f"Whether {first} or {second} is faster cannot be told: {about}."
    size = fixed(ratio.estimate, 1)
    if ratio.lower <= 1 <= ratio.upper:
        return f"These times do not show whether {first} or {second} is faster: {size} ({about})."
    return f"{capital(first)} is {size} times as fast as {second} ({about})."


def leading(names: Sequence[str], *, measure: str = "accuracy", among: str = "all compared") -> str:
    """One sentence about the names that share the first place, the highest first. among: what was compared.

    >>> leading(["the tree"], among="the models of this study")
    'Of the models of this study, the tree has the highest accuracy.'
    >>> leading(["the tree", "the logit"])
    'Of all compared, the tree has the highest accuracy; these data do not show that it exceeds that of the logit.'
    """
    first, *others = names
    told = f"Of {among}, {first} has the highest {measure}"
    return f"{told}; these data do not show that it exceeds that of {listed(others)}." if others else f"{told}."


def without_each(outcomes: Mapping[Outcome, Sequence[tuple[str, float]]], *, measure: str = "held-out accuracy") -> str:
    """Sentences on what a measure becomes without each of some features, in points, by what the intervals show.

    >>> print(without_each({"lower": [("price", -2.3)], "not_shown": [("style", 0.1)]}))
    Without price (−2.3 points) the trees have a lower held-out accuracy. For style these data show no change: its \
interval contains zero, which does not show that it carries nothing.
    """
    sentences = [
        f"Without {listed([f'{name} ({change(by)} points)' for name, by in outcomes[outcome]])} the trees have a "
        f"{outcome} {measure}."
        for outcome in ("lower", "higher")
        if outcomes.get(outcome)
    ]
    if unclear := [name for name, _ in outcomes.get("not_shown", ())]:
        its, it = ("its", "it carries") if len(unclear) == 1 else ("their", "they carry")
        intervals = "interval contains" if len(unclear) == 1 else "intervals contain"
        sentences.append(
            f"For {listed(unclear)} these data show no change: {its} {intervals} zero, which does not show that {it} "
            "nothing."
        )
    if unknown := [name for name, _ in outcomes.get("unknown", ())]:
        sentences.append(f"For {listed(unknown)} the change cannot be told: no interval is known.")
    return " ".join(sentences)
