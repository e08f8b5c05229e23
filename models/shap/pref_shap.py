"""PREF-SHAP: which features of the items decide a preference (pref-shap section 3.1, Table 1, Algorithm 1).

The value function of a coalition S of features is the expected preference when only S is known of both items. Its
Shapley values divide the preference among the features. Let B be the dual coefficients of the model over items
(DESIGN 3.3), and gamma_S as in `models.shap.mean_embedding` (Proposition 3.2):

    nu_S(x, x') = gamma_S(x)' B gamma_S(x')            for a preference g = k' B k,
                  + beta' (gamma_S(x) - gamma_S(x'))   plus this if the model also has a utility;
    nu_S(x, x') = beta' (gamma_S(x) - gamma_S(x'))     for a utility f = beta' k (SHAP for UPM).

nu of all features is the preference as smoothed by the regularisation lambda. The values sum to it minus nu of no
features, and each explanation reports its gap to the model's own preference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from models.kernels.dual_model import check_weights, preference_between
from models.kernels.gpm import CGPM, GPM, UPM
from models.kernels.item_kernel import ItemKernel
from models.numerics.validation import check_comparisons, check_items
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


class PreferenceForm(Protocol):
    """A preference as a function of gamma (m, r), or of the kernel with the carriers."""

    def between(self, gamma: FloatArray, pairs: IntArray) -> FloatArray:
        """Preference for the first of each pair (t, 2) of rows over the second, (t,)."""

    def against(self, gamma: FloatArray, opponents: FloatArray) -> FloatArray:
        """Preference for each row over the mean gamma (r,) of its opponents, (m,)."""


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

    items: (n, d) the reference items; weights: (n,) their weights, all the same if None.
    players: the columns of each player; one player per feature if None.
    contexts: (c, e), for a CGPM only: explain the mean preference over these contexts, with weights `context_weights`
        (c,), all the same if None. By default they are the model's own contexts, weighted by their training matches.
    Raises ValueError unless every column belongs to one player, for impossible weights, or for contexts of a model that
    has none; NotFittedError for a model that is not fitted.

    >>> items = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    >>> explainer = PrefShap(UPM().fit(items, [[1, 0], [2, 1]]), items)
    >>> found = explainer.duels(items, [[2, 0], [1, 0]])
    >>> found.players, found.values.shape
    (('x0', 'x1'), (2, 2))
    >>> np.allclose(found.values.sum(axis=1), found.full - found.empty)
    True
    >>> np.allclose(found.full, explainer.value_function(["x0", "x1"], items, [[2, 0], [1, 0]]))
    True
    """

    def __init__(
        self,
        model: GPM | CGPM | UPM,
        items: ArrayLike,
        *,
        players: Players | None = None,
        weights: ArrayLike | None = None,
        contexts: ArrayLike | None = None,
        context_weights: ArrayLike | None = None,
        settings: ShapSettings | None = None,
    ) -> None:
        if not isinstance(model, GPM | CGPM | UPM):
            raise TypeError(f"PrefShap explains a GPM, CGPM or UPM, not a {type(model).__name__}")
        check_is_fitted(model, "dual_")
        self._kernel: ItemKernel = model.kernel_
        self._carriers: FloatArray = model.items_
        self._columns = model.columns
        self._contexts = (contexts, context_weights)
        self._form = _form_of(model, contexts, context_weights)
        self._reference = check_items(items, model.n_features_in_)
        self._weights = check_weights(weights, "weights", len(self._reference))
        self.players = players_of(model.kernel_.columns, players)
        self.settings = settings or ShapSettings()

    def duels(self, items: ArrayLike, pairs: ArrayLike) -> PreferenceExplanation:
        """Explain each duel (t, 2) of item rows: the preference for its first item (Table 1, row 1)."""
        return explain(self._game(items, pairs, self._form), list(self.players), self.settings)

    def duels_of(
        self, models: Sequence[GPM | CGPM | UPM], items: ArrayLike, pairs: ArrayLike
    ) -> list[PreferenceExplanation]:
        """Explain each duel (t, 2) of item rows by each of several models, such as fits to resampled matches.

        The models share the kernel and the items of this one, so that a coalition costs one factorisation for all of
        them. Contexts count as in this one. Raises ValueError for a model with another kernel or other items.
        """
        for model in models:
            if not np.array_equal(model.items_, self._carriers, equal_nan=True) or model.columns != self._columns:
                raise ValueError("the models must have the same columns, carried by the same items")
        forms = [_form_of(model, *self._contexts) for model in models]
        return apart(explain(self._game(items, pairs, *forms), list(self.players), self.settings), len(models))

    def value_function(self, coalition: Sequence[str] | ArrayLike, items: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """nu_S of each duel (t, 2) of item rows, (t,).

        coalition: S, as names of players or as booleans (d,).
        """
        return self._game(items, pairs, self._form).nu(coalition_of(coalition, list(self.players)))

    def against_all(self, items: ArrayLike) -> PreferenceExplanation:
        """Explain the mean preference for each item (m, d) over the reference items (Table 1, row 2)."""
        X = check_items(items, self._reference.shape[1])
        embedding, points = self._embed(np.concatenate([X, self._reference]))
        own, opponents = points[: len(X)], points[len(X) :]
        share = np.bincount(opponents, weights=self._weights, minlength=len(embedding.explained)) / self._weights.sum()
        data = player_data(X, self._kernel.columns, self.players)
        typical = np.average(
            player_data(self._reference, self._kernel.columns, self.players), axis=0, weights=self._weights
        )
        game = Game(embedding, lambda gamma: self._form.against(gamma, share @ gamma)[own], data - typical)
        return explain(game, list(self.players), self.settings)

    def _game(self, items: ArrayLike, pairs: ArrayLike, *forms: PreferenceForm) -> Game:
        """The games of duels (t, 2) of item rows by each of the forms."""
        X = check_items(items, self._reference.shape[1])
        duels = check_comparisons(pairs, len(X))
        named, rows = np.unique(duels, return_inverse=True)
        embedding, points = self._embed(X[named])
        named_rows = points[rows.reshape(duels.shape)]
        data = player_data(X, self._kernel.columns, self.players)
        difference = data[duels[:, 0]] - data[duels[:, 1]]
        values = [partial(form.between, pairs=named_rows) for form in forms]
        return Game(embedding, several(values), np.tile(difference, (len(forms), 1)))

    def _embed(self, explained: FloatArray) -> tuple[Embedding, IntArray]:
        """gamma_S of the distinct points among the explained ones (t, d), and the row of each point in it, (t,)."""
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


def _form_of(model: GPM | CGPM | UPM, contexts: ArrayLike | None, weights: ArrayLike | None) -> PreferenceForm:
    if isinstance(model, CGPM):
        U = model.contexts_ if contexts is None else check_items(contexts, model.contexts_.shape[1])
        by_matches = contexts is None and weights is None
        shares = model.context_shares_ if by_matches else check_weights(weights, "context_weights", len(U))
        met = shares / shares.sum() @ model.context_kernel_(U, model.contexts_)
        return SkewForm(np.tensordot(met, model.dual_, axes=1), met @ model.utility_)
    if contexts is not None or weights is not None:
        raise ValueError(f"{type(model).__name__} has no contexts")
    return SkewForm(model.dual_, model.utility_) if isinstance(model, GPM) else UtilityForm(model.dual_)
