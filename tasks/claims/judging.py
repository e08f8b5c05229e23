"""The status of a claim, decided from the numbers of a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from models.records.duel_results import FINDINGS, NO_MODEL
from models.records.studies.claims import ClaimResult, Status
from models.records.studies.message_results import COMPARABILITY, Comparability, Obstacle
from models.records.studies.respondent_results import GP
from models.scores.comparing import Difference
from models.shap.findings import OTHER_MATCHES, Verdict
from reports.index.page import WORDS
from reports.page.finished_run import FinishedRun
from reports.page.wording import spaced
from tasks.claims.computed import COMPUTED
from tasks.claims.declared import Claim, Judged, NotTestable, Number, Order, Pair, Place, Rows, StudyClaims
from tasks.claims.found import find

SIMULATED = "the data of the run is simulated"
OBSTACLES: Mapping[Obstacle, str] = {
    "simulated": SIMULATED,
    "unpinned": "the files are not the published ones",
    "other_model": "another language model answered than in the paper",
}
SAID = {"above": "above", "below": "below", "within": "at most this far from zero:"}


WORDING = {"claim": "", "source": ""}
"""What may change about a finding without changing what decides it."""


class Decision(NamedTuple):
    """A status, the reason for it, and the number it rests on."""

    status: Status
    reason: str = ""
    found: Difference | None = None


def judge_claim(claim: Claim, of: StudyClaims, run: FinishedRun | None) -> ClaimResult:
    """The result for one claim of a study in its latest run; run: None if there is none."""
    decision = _decide(claim, of, run)
    found = decision.found
    bounded = found is not None and not (found.lower is None and found.upper is None)
    test = claim.test
    return ClaimResult(
        claim=f"{of.study or 'other'}/{claim.name}",
        words=claim.words,
        source=claim.source,
        study=of.study,
        tested=decided_by(claim),
        status=decision.status,
        reason=decision.reason,
        published=test.value if isinstance(test, Number | Rows) else None,
        decimals=test.decimals if isinstance(test, Number) else 0 if isinstance(test, Rows) else 3,
        found=found.estimate if found else None,
        lower=found.lower if found and bounded else None,
        upper=found.upper if found and bounded else None,
        over=found.over if found and bounded else "",
        run=f"{run.path.parent.name}/{run.path.name}" if run and not isinstance(test, NotTestable) else None,
    )


def _decide(claim: Claim, of: StudyClaims, run: FinishedRun | None) -> Decision:
    test = claim.test
    if isinstance(test, NotTestable):
        return Decision("not_testable", test.reason)
    if run is None and of.study is not None:
        return Decision("not_run")
    if run is not None and (reason := _not_comparable(of, run)):
        return Decision("not_testable", reason)
    if isinstance(test, Number):
        return _with_settings(_number(test, run), of, run) if _of_model(test) else _number(test, run)
    if isinstance(test, Order):
        return _with_settings(_order(test, run), of, run)
    if run is None:
        raise ValueError(f"claim {claim.name} needs a study that tests it")
    return _rows(test, run) if isinstance(test, Rows) else _with_settings(_finding(test, run), of, run)


def _of_model(test: Number) -> bool:
    """Whether a number is one of a model; one of the data itself does not depend on how models are fitted."""
    return test.places[0].model != NO_MODEL


def _with_settings(decision: Decision, of: StudyClaims, run: FinishedRun | None) -> Decision:
    """The decision, under another protocol if the run has other settings than the paper's."""
    changed = _changed_settings(of.settings, run.record.config) if run else ""
    if not changed or decision.status == "not_run":
        return decision
    status: Status = "another_protocol" if decision.status == "reproduced" else decision.status
    return decision._replace(status=status, reason="; ".join(filter(None, (decision.reason, changed))))


def _not_comparable(of: StudyClaims, run: FinishedRun) -> str:
    """Why nothing published can be compared with this run; empty if it can."""
    if (run.path / "results" / f"{COMPARABILITY}.json").is_file():
        obstacles = run.document(COMPARABILITY, Comparability).obstacles
        return " and ".join(OBSTACLES[each] for each in obstacles)
    if run.record.simulated and not of.simulated:
        return SIMULATED
    return OBSTACLES["unpinned"] if run.record.unpinned else ""


def _changed_settings(papers: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """The settings of a run that differ from the paper's, as `users = 300`; empty if none does."""
    changed = {name: config.get(name) for name, value in papers.items() if config.get(name) != value}
    return ", ".join(f"{spaced(name)} = {'all' if value is None else value}" for name, value in changed.items())


# ------------------------------------------------------------------------------------------- numbers


def _number(test: Number, run: FinishedRun | None) -> Decision:
    """Reproduced where the interval, widened by the rounding of the published number, contains that number."""
    tried = [(place, found) for place in test.places if (found := find(run, Pair(first=place))) is not None]
    if not tried:
        return _absent()
    for place, found in tried:
        if _agrees(found, test):
            return _reproduced(place.protocol, found)
    place, found = tried[0]
    if place.protocol:
        return Decision("not_reproduced", f"here with {place.protocol}", found)
    unknown = found.over and (found.lower is None or found.upper is None)
    return Decision("not_reproduced", "no interval is known" if unknown else "", found)


def _agrees(found: Difference, test: Number) -> bool:
    if found.estimate is None:
        return False
    rounding = 0.5 * 10.0**-test.decimals
    lower = found.estimate if found.lower is None else found.lower
    upper = found.estimate if found.upper is None else found.upper
    return lower - rounding <= test.value <= upper + rounding


def _reproduced(protocol: str, found: Difference) -> Decision:
    return Decision("another_protocol", protocol, found) if protocol else Decision("reproduced", "", found)


def _absent() -> Decision:
    return Decision("not_run", "the latest run did not measure it")


def _rows(test: Rows, run: FinishedRun) -> Decision:
    """Reproduced where the table has exactly the published number of rows."""
    count = run.record.data[0].rows.get(test.part)
    if count is None:
        return _absent()
    found = Difference(estimate=float(count), over="")
    return Decision("reproduced" if count == test.value else "not_reproduced", "", found)


# ------------------------------------------------------------------------------------------- orders and findings


def _order(test: Order, run: FinishedRun | None) -> Decision:
    """Reproduced where the whole interval lies on the claimed side of the bound, or within both bounds."""
    tried = [(pair, found) for pair in test.pairs if (found := find(run, pair)) is not None]
    if not tried:
        return _absent()
    for pair, found in tried:
        if _side(found, test) == "holds":
            return _reproduced(pair.protocol, found)
    _, found = tried[0]
    return _undecided(_side(found, test), found)


def _undecided(side: str, found: Difference) -> Decision:
    without = found.lower is None and found.upper is None
    reasons = {
        "fails": "the opposite is shown",
        "not_shown": "the interval allows both",
        "unknown": "no interval is known" if without else "its interval is not calibrated, so that nothing follows",
    }
    return Decision("not_reproduced", reasons[side], found)


def _side(found: Difference, test: Order) -> str:
    if found.estimate is None or found.lower is None or found.upper is None:
        return "unknown"
    if test.side == "within":
        if -test.bound <= found.lower and found.upper <= test.bound:
            return "holds"
        return "fails" if found.lower > test.bound or found.upper < -test.bound else "not_shown"
    # What an interval shows about a bound is what it shows about zero once the bound is taken off.
    off = Difference(
        estimate=found.estimate - test.bound,
        lower=found.lower - test.bound,
        upper=found.upper - test.bound,
        over=found.over,
    ).outcome
    if off in ("not_shown", "unknown"):
        return off
    return "holds" if (off == "higher") == (test.side == "above") else "fails"


def _finding(test: Judged, run: FinishedRun) -> Decision:
    """Reproduced where the verdict of the study's explanations is that the finding holds."""
    if not (run.path / "results" / f"{FINDINGS}.json").is_file():
        return _absent()
    for verdict in run.document(FINDINGS, tuple[Verdict, ...]):
        if verdict.finding.model_copy(update=WORDING) == test.finding.model_copy(update=WORDING):
            bounds = verdict.matches
            found = Difference(
                estimate=verdict.value,
                lower=bounds.lower if bounds else None,
                upper=bounds.upper if bounds else None,
                over=bounds.over if bounds else OTHER_MATCHES,
            )
            if verdict.outcome == "holds":
                return Decision("reproduced", "", found)
            return _undecided("not_shown" if verdict.outcome == "not_decided" else verdict.outcome, found)
    return _absent()


# ------------------------------------------------------------------------------------------- words


def decided_by(claim: Claim) -> str:
    """What decides a claim, in words; empty if nothing here does.

    >>> place = Place(model="gpm", variant="split_first", metric="auc")
    >>> test = Order(pairs=(Pair(first=place, second=place.but(model="upm")),), side="above")
    >>> decided_by(Claim(name="a", source="a paper", words="A.", test=test))
    'AUC of GPM, split first, held-out data, minus that of UPM: above 0'
    """
    test = claim.test
    if isinstance(test, NotTestable):
        return ""
    if isinstance(test, Rows):
        return f"rows of {test.part} in the table"
    if isinstance(test, Judged):
        finding = test.finding
        players = ", ".join(spaced(player) for player in finding.players)
        return (
            f"{spaced(finding.statistic)} of {players}, {_word(finding.model)}, duels: {spaced(finding.explained)}; "
            f"{finding.side} {finding.threshold:g}"
        )
    if isinstance(test, Number):
        return _place_in_words(test.places[0])
    [pair, *_] = test.pairs
    words = _place_in_words(pair.first)
    if pair.second is not None:
        words += f", minus that of {_changed_in_words(pair.first, pair.second)}"
    return f"{words}: {SAID[test.side]} {test.bound:g}"


def _place_in_words(place: Place) -> str:
    """The metric, its model, and where and when it was measured."""
    of_model = "" if place.model == NO_MODEL else f" of {_word(place.model)}"
    parts = [f"{_word(place.metric)}{of_model}", "" if place.variant == GP else _word(place.variant)]
    parts.append({"asked": f"after {place.at} questions", "all": "", COMPUTED: ""}.get(place.split, _word(place.split)))
    return ", ".join(filter(None, parts))


def _word(name: str) -> str:
    return WORDS.get(name, spaced(name))


def _changed_in_words(place: Place, other: Place) -> str:
    """The fields of another place that differ."""
    fields = [name for name in ("model", "variant", "metric", "split") if getattr(place, name) != getattr(other, name)]
    words = [_word(str(getattr(other, name))) for name in fields]
    if place.at != other.at:
        words.append(f"{other.at} questions")
    return ", ".join(words)
