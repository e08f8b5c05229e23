"""PREF-SHAP: which features of the items decide a preference (pref-shap section 3.1, Table 1, Algorithm 1).

The value function of a coalition S of features is what is expected of the preference when S alone is known of both
items; its Shapley values share the preference out among the features. In items rather than matches, with B the dual
coefficients of the model (DESIGN 3.3) and gamma_S of `models.shap.mean_embedding` (Proposition 3.2):

    nu_S(x, x') = gamma_S(x)' B gamma_S(x')            of a preference g = k' B k, and with a utility of its own
                  + beta' (gamma_S(x) - gamma_S(x'))   the next line more,
    nu_S(x, x') = beta' (gamma_S(x) - gamma_S(x'))     of a utility f = beta' k (SHAP for UPM).

nu of all features is the preference as the regularisation lambda has smoothed it: the values share that out, and every
explanation tells its gap to the model's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from models.kernels.gpm import CGPM, GPM, UPM, preference_between
from models.kernels.item_kernel import ItemKernel
from models.numerics.validation import check_comparisons, check_items
from models.records.arrays import FloatArray, IntArray
from models.shap.explanation import Players, PreferenceExplanation, ShapSettings, player_data, players_of, share_out
from models.shap.mean_embedding import Embedding, distinct_points, player_kernels


class PreferenceForm(Protocol):
    """A preference function as a form of gamma (m, r), or of the kernel with its carriers itself."""

    def between(self, gamma: FloatArray, pairs: IntArray) -> FloatArray:
        """Of the first of each pair (t, 2) of rows over the second, (t,)."""

    def against(self, gamma: FloatArray, opponents: FloatArray) -> FloatArray:
        """Of every row over the mean gamma (r,) of its opponents, (m,)."""


@dataclass(frozen=True, eq=False)
class SkewForm:
    """gamma' B gamma' + beta' gamma - beta' gamma'; dual: (r, r) skew-symmetric B; utility: (r,) beta."""

    dual: FloatArray
    utility: FloatArray

    def between(self, gamma: FloatArray, pairs: IntArray) -> FloatArray:
        """See `PreferenceForm`."""
        return preference_between(gamma, self.dual, self.utility, pairs)

    def against(self, gamma: FloatArray, opponents: FloatArray) -> FloatArray:
        """See `PreferenceForm`."""
        return np.asarray(gamma @ (self.dual @ opponents + self.utility) - self.utility @ opponents)


@dataclass(frozen=True, eq=False)
class UtilityForm:
    """beta' gamma - beta' gamma'; dual: (r,) beta."""

    dual: FloatArray

    def between(self, gamma: FloatArray, pairs: IntArray) -> FloatArray:
        """See `PreferenceForm`."""
        utility = gamma @ self.dual
        return np.asarray(utility[pairs[:, 0]] - utility[pairs[:, 1]])

    def against(self, gamma: FloatArray, opponents: FloatArray) -> FloatArray:
        """See `PreferenceForm`."""
        return np.asarray(gamma @ self.dual - self.dual @ opponents)


class PrefShap:
    """Explains the preferences of a fitted model by the features of the items.

    items: (n, d) the reference, of which each counts once, or by `weights` (n,).
    players: the columns of each; a player a feature if None.
    context: (e,) in which a CGPM's preferences are explained; if None, those expected over its contexts, of which each
    counts by its training matches, or by `context_weights` (q,).
    Raises ValueError unless every column belongs to one player, or for contexts of a model that knows none.
    """

    def __init__(
        self,
        model: GPM | CGPM | UPM,
        items: ArrayLike,
        *,
        players: Players | None = None,
        weights: ArrayLike | None = None,
        context: ArrayLike | None = None,
        context_weights: ArrayLike | None = None,
        settings: ShapSettings | None = None,
    ) -> None:
        self._kernel: ItemKernel = model.kernel_
        self._carriers: FloatArray = model.items_
        self._form = _form_of(model, context, context_weights)
        self._reference = check_items(items, model.n_features_in_)
        self._weights = np.ones(len(self._reference)) if weights is None else np.asarray(weights, dtype=np.float64)
        self.players = players_of(model.kernel_.columns, players)
        self.settings = settings or ShapSettings()

    def duels(self, items: ArrayLike, pairs: ArrayLike) -> PreferenceExplanation:
        """Which features decided each duel (t, 2) of item rows, for its first (Table 1, row 1): t explanations."""
        X = check_items(items, self._reference.shape[1])
        duels = check_comparisons(pairs, len(X))
        named, rows = np.unique(duels, return_inverse=True)
        embedding, points = self._embed(X[named])
        named_rows = points[rows.reshape(duels.shape)]
        data = player_data(X, self._kernel.columns, self.players)
        return self._share_out(
            embedding, lambda gamma: self._form.between(gamma, named_rows), data[duels[:, 0]] - data[duels[:, 1]]
        )

    def against_all(self, items: ArrayLike) -> PreferenceExplanation:
        """Which features decide the matches of each item (m, d) against all of the reference (Table 1, row 2)."""
        X = check_items(items, self._reference.shape[1])
        embedding, points = self._embed(np.concatenate([X, self._reference]))
        own, opponents = points[: len(X)], points[len(X) :]
        share = np.bincount(opponents, weights=self._weights, minlength=len(embedding.explained)) / self._weights.sum()
        data = player_data(X, self._kernel.columns, self.players)
        typical = np.average(
            player_data(self._reference, self._kernel.columns, self.players), axis=0, weights=self._weights
        )
        return self._share_out(embedding, lambda gamma: self._form.against(gamma, share @ gamma)[own], data - typical)

    def _embed(self, explained: FloatArray) -> tuple[Embedding, IntArray]:
        """gamma_S of the distinct ones of explained points (t, d), and which of them each is, (t,)."""
        points, (carriers, reference, rows) = distinct_points(self._carriers, self._reference, explained)
        total: FloatArray = np.bincount(reference, self._weights, minlength=len(points)).astype(np.float64)
        shares = total / total.sum()
        known = np.flatnonzero(shares)
        distinct, place = np.unique(rows, return_inverse=True)
        embedding = Embedding(
            kernels=player_kernels(self._kernel, points, list(self.players.values())),
            carriers=carriers,
            reference=known,
            explained=distinct,
            shares=shares[known],
            regularisation=self.settings.smoothing,
        )
        return embedding, place

    def _share_out(
        self, embedding: Embedding, value: Callable[[FloatArray], FloatArray], data: FloatArray
    ) -> PreferenceExplanation:
        return share_out(value, embedding, players=list(self.players), data=data, settings=self.settings)


def _form_of(model: GPM | CGPM | UPM, context: ArrayLike | None, weights: ArrayLike | None) -> PreferenceForm:
    if isinstance(model, CGPM):
        if context is not None:
            where = np.atleast_2d(np.asarray(context, dtype=np.float64))
            return SkewForm(model.dual_in(where)[0], model.utility_in(where)[0])
        shares = model.context_shares_ if weights is None else np.asarray(weights, dtype=np.float64)
        met = shares / shares.sum() @ model.context_kernel_(model.contexts_, model.contexts_)
        return SkewForm(np.tensordot(met, model.dual_, axes=1), met @ model.utility_)
    if context is not None or weights is not None:
        raise ValueError(f"{type(model).__name__} knows no contexts")
    return SkewForm(model.dual_, model.utility_) if isinstance(model, GPM) else UtilityForm(model.dual_)
