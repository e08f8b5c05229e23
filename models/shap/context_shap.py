"""PREF-SHAP of contexts: which features of its context decide a duel (pref-shap section 3.2, Table 1).

The value function of a coalition S of context features is the expected preference when only S is known of the context
(Proposition 3.3). Let B_c be the dual coefficients of the distinct context c, and gamma_S as in
`models.shap.mean_embedding`: nu_S(u, x, x') = sum_c gamma_S(u)_c k(x)' B_c k(x').
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from models.kernels.dual_model import check_weights, preference_between
from models.kernels.gpm import CGPM
from models.numerics.validation import check_comparisons, check_items, check_rows
from models.records.arrays import FloatArray, IntArray
from models.shap.explanation import (
    Game,
    Players,
    PreferenceExplanation,
    ShapSettings,
    apart,
    coalition_of,
    explain,
    player_data,
    players_of,
    several,
)
from models.shap.mean_embedding import Embedding, distinct_points, player_kernels


class ContextShap:
    """Explains the preferences of a fitted CGPM by the features of contexts.

    contexts: (n, e) the reference contexts, the distinct ones of the training matches if None.
    weights: (n,) their weights; if None, the number of training matches for the model's own contexts, and equal weights
    for others.
    players: the columns of each player; one player per feature if None.
    Raises ValueError unless every column belongs to one player, or for impossible weights; NotFittedError for a model
    that is not fitted.

    >>> items, contexts = np.array([[0.0], [1.0]]), np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    >>> model = CGPM(penalty=0.01).fit(items, [[0, 1], [1, 0], [1, 0]], contexts, [0, 1, 2])
    >>> found = ContextShap(model).duels(items, [[0, 1]], contexts, [0])
    >>> found.players, bool(found.values[0, 0] > found.values[0, 1] > 0)
    (('x0', 'x1'), True)
    """

    def __init__(
        self,
        model: CGPM,
        contexts: ArrayLike | None = None,
        *,
        players: Players | None = None,
        weights: ArrayLike | None = None,
        settings: ShapSettings | None = None,
    ) -> None:
        if not isinstance(model, CGPM):
            raise TypeError(f"ContextShap explains a CGPM, not a {type(model).__name__}")
        check_is_fitted(model, "dual_")
        self._model = model
        own = model.contexts_
        self._reference = own if contexts is None else check_items(contexts, own.shape[1])
        by_matches = contexts is None and weights is None
        self._weights = model.context_shares_ if by_matches else check_weights(weights, "weights", len(self._reference))
        self.players = players_of(model.context_kernel_.columns, players)
        self.settings = settings or ShapSettings()

    def duels(
        self, items: ArrayLike, pairs: ArrayLike, contexts: ArrayLike, context_of: ArrayLike
    ) -> PreferenceExplanation:
        """Explain each duel (t, 2) of item rows by its context: the preference for its first item (Table 1, row 3).

        context_of: (t,) rows of `contexts`.
        """
        return explain(self._game(items, pairs, contexts, context_of), list(self.players), self.settings)

    def duels_of(
        self, models: Sequence[CGPM], items: ArrayLike, pairs: ArrayLike, contexts: ArrayLike, context_of: ArrayLike
    ) -> list[PreferenceExplanation]:
        """Explain each duel by its context under each of several models that share this one's contexts and kernels.

        See `PrefShap.duels_of`. Raises ValueError for a model with other contexts.
        """
        if any(not np.array_equal(model.contexts_, self._model.contexts_, equal_nan=True) for model in models):
            raise ValueError("the models must have the same contexts")
        game = self._game(items, pairs, contexts, context_of, *models)
        return apart(explain(game, list(self.players), self.settings), len(models))

    def value_function(
        self,
        coalition: Sequence[str] | ArrayLike,
        items: ArrayLike,
        pairs: ArrayLike,
        contexts: ArrayLike,
        context_of: ArrayLike,
    ) -> FloatArray:
        """nu_S of each duel (t, 2) of item rows in the context of row context_of (t,), (t,).

        coalition: S, as names of players or as booleans (d,).
        """
        game = self._game(items, pairs, contexts, context_of)
        return game.nu(coalition_of(coalition, list(self.players)))

    def on_average(self, items: ArrayLike, pairs: ArrayLike, contexts: ArrayLike) -> PreferenceExplanation:
        """Explain the mean preference over these duels (t, 2) in each context (m, e) (Table 1, row 4).

        Each duel counts for its first item. With winners first, the values explain how clear-cut the duels are there.
        """
        U = check_items(contexts, self._model.contexts_.shape[1])
        duels = check_comparisons(pairs, len(check_items(items)))
        if not len(duels):
            raise ValueError("there are no duels to average over")
        mean = self._in_each(items, duels, self._model).mean(axis=0)
        game = self._in_contexts(U, np.arange(len(U)), np.broadcast_to(mean, (len(U), len(mean))))
        return explain(game, list(self.players), self.settings)

    def _game(
        self, items: ArrayLike, pairs: ArrayLike, contexts: ArrayLike, context_of: ArrayLike, *models: CGPM
    ) -> Game:
        """The games of duels by each of the models, by this one if there are none."""
        U = check_items(contexts, self._model.contexts_.shape[1])
        duels = check_comparisons(pairs, len(check_items(items)))
        rows = check_rows(context_of, "context_of", len(U), len(duels))
        return self._in_contexts(U, rows, *(self._in_each(items, duels, model) for model in models or (self._model,)))

    def _in_each(self, items: ArrayLike, duels: IntArray, model: CGPM) -> FloatArray:
        """The preference in each duel under the dual coefficients of each of the model's contexts alone, (t, q)."""
        X = check_items(items, model.n_features_in_)
        named, rows = np.unique(duels, return_inverse=True)
        kernel = model.kernel_(X[named], model.items_)
        found = [
            preference_between(kernel, dual, utility, rows.reshape(duels.shape))
            for dual, utility in zip(model.dual_, model.utility_, strict=True)
        ]
        return np.stack(found, axis=1)

    def _in_contexts(self, contexts: FloatArray, context_of: IntArray, *in_each: FloatArray) -> Game:
        """The games of t duels in the contexts of rows context_of (t,); in_each: (t, q) of `_in_each` by each model."""
        points, (carriers, reference, explained) = distinct_points(self._model.contexts_, self._reference, contexts)
        distinct, place = np.unique(explained, return_inverse=True)
        weighted = np.flatnonzero(self._weights)
        embedding = Embedding(
            kernels=player_kernels(self._model.context_kernel_, points, list(self.players.values())),
            carriers=carriers,
            reference=reference[weighted],
            explained=distinct,
            shares=(self._weights / self._weights.sum())[weighted],
            regularisation=self.settings.smoothing,
        )
        rows = place[context_of]
        data = player_data(contexts, self._model.context_kernel_.columns, self.players)[context_of]
        values = [partial(_weighted, rows=rows, in_each=each) for each in in_each]
        return Game(embedding, several(values), np.tile(data, (len(values), 1)))


def _weighted(gamma: FloatArray, rows: IntArray, in_each: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("tc,tc->t", gamma[rows], in_each))
