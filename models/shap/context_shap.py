"""PREF-SHAP of contexts: which features of where and when a duel was fought decide it (pref-shap section 3.2, Table 1).

The value function of a coalition S of context features is what is expected of the preference when S alone is known of
the context (Proposition 3.3). In distinct contexts rather than matches, with B_c the dual coefficients of context c and
gamma_S of `models.shap.mean_embedding`: nu_S(u, x, x') = sum_c gamma_S(u)_c k(x)' B_c k(x').
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from models.kernels.gpm import CGPM, check_contexts, preference_between
from models.numerics.validation import check_comparisons, check_items
from models.records.arrays import FloatArray, IntArray
from models.shap.explanation import Players, PreferenceExplanation, ShapSettings, player_data, players_of, share_out
from models.shap.mean_embedding import Embedding, distinct_points, player_kernels


class ContextShap:
    """Explains the preferences of a fitted CGPM by the features of contexts.

    The reference is the contexts of the training matches; each counts by these, or by `weights` (q,).
    players: the columns of each; a player a feature if None. Raises ValueError unless every column belongs to one.
    """

    def __init__(
        self,
        model: CGPM,
        *,
        players: Players | None = None,
        weights: ArrayLike | None = None,
        settings: ShapSettings | None = None,
    ) -> None:
        self._model = model
        self._weights = model.context_shares_ if weights is None else np.asarray(weights, dtype=np.float64)
        self.players = players_of(model.context_kernel_.columns, players)
        self.settings = settings or ShapSettings()

    def duels(
        self, items: ArrayLike, pairs: ArrayLike, contexts: ArrayLike, context_of: ArrayLike
    ) -> PreferenceExplanation:
        """Which features of its context decided each duel (t, 2) of item rows, for its first (Table 1, row 3).

        context_of: (t,) rows of `contexts`. Gives t explanations.
        """
        U = check_items(contexts, self._model.contexts_.shape[1])
        duels = check_comparisons(pairs, len(check_items(items)))
        return self._share_out(U, check_contexts(context_of, len(duels), len(U)), self._in_each(items, duels))

    def on_average(self, items: ArrayLike, pairs: ArrayLike, contexts: ArrayLike) -> PreferenceExplanation:
        """Which features of each context (t, e) move the mean preference over these duels (Table 1, row 4).

        Each duel counts for its first: with winners first, it is how clear-cut duels are there that is explained.
        """
        U = check_items(contexts, self._model.contexts_.shape[1])
        mean = self._in_each(items, check_comparisons(pairs, len(check_items(items)))).mean(axis=0)
        return self._share_out(U, np.arange(len(U)), np.broadcast_to(mean, (len(U), len(mean))))

    def _in_each(self, items: ArrayLike, duels: IntArray) -> FloatArray:
        """The preference that each training context alone would give each duel, (t, q)."""
        X = check_items(items, self._model.n_features_in_)
        named, rows = np.unique(duels, return_inverse=True)
        kernel = self._model.kernel_(X[named], self._model.items_)
        found = [
            preference_between(kernel, dual, utility, rows.reshape(duels.shape))
            for dual, utility in zip(self._model.dual_, self._model.utility_, strict=True)
        ]
        return np.stack(found, axis=1)

    def _share_out(self, contexts: FloatArray, context_of: IntArray, in_each: FloatArray) -> PreferenceExplanation:
        """in_each: (t, q)."""
        points, (reference, explained) = distinct_points(self._model.contexts_, contexts)
        distinct, place = np.unique(explained, return_inverse=True)
        embedding = Embedding(
            kernels=player_kernels(self._model.context_kernel_, points, list(self.players.values())),
            carriers=reference,
            reference=reference,
            explained=distinct,
            shares=self._weights / self._weights.sum(),
            regularisation=self.settings.smoothing,
        )
        rows = place[context_of]
        data = player_data(contexts, self._model.context_kernel_.columns, self.players)[context_of]
        return share_out(
            lambda gamma: np.einsum("tc,tc->t", gamma[rows], in_each),
            embedding,
            players=list(self.players),
            data=data,
            settings=self.settings,
        )
