"""Summaries of explanations: importance, mean and direction of each player, and the gap to the model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.records.arrays import FloatArray
from models.records.duel_results import ExplainedSummary, ExplanationSummary, KernelModel, MeanGap, PlayerSummary
from models.shap.explanation import REST, PreferenceExplanation


def summarise_players(explanation: PreferenceExplanation) -> tuple[PlayerSummary, ...]:
    """Each player's contributions over the explained duels, most important first, equals in the order given.

    A player favours the one who has more of it if its contributions, summed with the sign of the difference between
    the two, are positive.

    >>> import numpy as np
    >>> nothing = np.zeros(2)
    >>> explanation = PreferenceExplanation(
    ...     players=("age", "speed"), values=np.array([[-0.5, 3.0], [0.5, -1.0]]), standard_error=None, empty=nothing,
    ...     full=nothing, score=nothing, data=np.array([[1.0, 2.0], [-1.0, -2.0]]), coalitions=4,
    ... )
    >>> [(each.player, each.importance, each.mean, each.favours) for each in summarise_players(explanation)]
    [('speed', 2.0, 1.0, 'more'), ('age', 0.5, 0.0, 'less')]
    """
    values = explanation.values
    importance = np.abs(values).mean(axis=0)
    means = values.mean(axis=0)
    found = []
    for at in np.argsort(-importance, kind="stable"):
        towards_more = float(values[:, at] @ np.sign(np.nan_to_num(explanation.data[:, at])))
        found.append(
            PlayerSummary(
                player=explanation.players[at],
                importance=float(importance[at]),
                mean=float(means[at]),
                favours="more" if towards_more > 0 else "less" if towards_more < 0 else None,
            )
        )
    return tuple(found)


def leading_player(players: Sequence[PlayerSummary]) -> str:
    """The most important player that is not the rest of the columns taken together; players: most important first.

    >>> names = (REST, "speed", "age")
    >>> leading_player([PlayerSummary(player=name, importance=1.0, mean=0.5, favours=None) for name in names])
    'speed'
    """
    return next((each.player for each in players if each.player != REST), REST)


def mean_gap(model: KernelModel, explanations: Sequence[PreferenceExplanation]) -> MeanGap:
    """Mean absolute gap between the explained values and a model's own preference, over all its explained duels.

    >>> import numpy as np
    >>> explanation = PreferenceExplanation(
    ...     players=("speed",), values=np.array([[0.75], [0.5]]), standard_error=None, empty=np.zeros(2),
    ...     full=np.array([0.75, 0.5]), score=np.array([1.0, 0.5]), data=np.array([[2.0], [1.0]]), coalitions=2,
    ... )
    >>> gap = mean_gap("gpm", [explanation])
    >>> gap.gap, gap.preference
    (0.125, 0.75)
    """
    gap = np.concatenate([each.gap for each in explanations])
    score = np.concatenate([each.score for each in explanations])
    return MeanGap(model=model, gap=float(np.abs(gap).mean()), preference=float(np.abs(score).mean()))


def summarise_all(
    summaries: Sequence[ExplanationSummary], explanations: Sequence[PreferenceExplanation]
) -> ExplainedSummary:
    """Summarise all explanations of a run. summaries: one for each of the explanations, in the same order."""
    errors = [each.standard_error.ravel() for each in explanations if each.standard_error is not None]
    by_model: dict[KernelModel, list[PreferenceExplanation]] = {}
    for summary, explanation in zip(summaries, explanations, strict=True):
        by_model.setdefault(summary.model, []).append(explanation)
    return ExplainedSummary(
        explanations=tuple(summaries),
        coalitions=max(each.coalitions for each in explanations),
        standard_error=float(np.concatenate(errors).mean()) if errors else None,
        gaps=tuple(mean_gap(model, found) for model, found in by_model.items()),
    )


def means_by_group(values: FloatArray, groups: Sequence[str]) -> list[tuple[str, int, FloatArray]]:
    """Each group of rows (m,) with its size and the mean of its values (m, d): (d,). Largest first, then by first row.

    >>> import numpy as np
    >>> means_by_group(np.array([[1.0], [2.0], [4.0]]), ["hall", "lawn", "lawn"])
    [('lawn', 2, array([3.])), ('hall', 1, array([1.]))]
    """
    rows: dict[str, list[int]] = {}
    for row, group in enumerate(groups):
        rows.setdefault(group, []).append(row)
    ordered = sorted(rows.items(), key=lambda each: -len(each[1]))
    return [(group, len(at), values[at].mean(axis=0)) for group, at in ordered]
