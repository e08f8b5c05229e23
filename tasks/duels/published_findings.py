"""The findings of pref-shap's section 4 and Figures 2 to 8 about what decides preferences, each with its test.

The duels to explain, the statistic of each finding and its threshold are fixed before a run. If the paper says that a
feature matters, its importance must exceed an equal share of all features. If it says that one feature matters more
than another, the ratio of their importances must exceed 1. If it says whom a feature speaks for, more than half of its
influence must go there. A finding with any other threshold states it.
"""

from __future__ import annotations

from functools import partial

from models.shap.findings import Finding
from tasks.duels.explanation_settings import DuelKind, ExplainConfig

_WITHIN, _BETWEEN = "within", ("between_ab", "between_ac", "between_bc")
_OF_ALL = DuelKind(name="all", title="All held-out duels")
_A_AND_B = DuelKind(name="a_and_b", title="One of cluster A, one of B", between=("cluster", "A", "B"))
_fig2 = partial(Finding, source="pref-shap, Figure 2", explained="all")
_fig3 = partial(
    Finding, source="pref-shap, Figure 3", explained="a_and_b", statistic="importance_ratio", players=("between_ab",),
    threshold=1,
)  # fmt: skip

SYNTHETIC = ExplainConfig(
    kinds=(_OF_ALL, _A_AND_B),
    findings=(
        _fig2(
            name="within_first", statistic="importance_ratio", players=(_WITHIN,), rivals=_BETWEEN, threshold=1,
            claim="What decides within clusters matters more than what decides between two (the cluster itself, one "
            "feature here, is three in the paper).",
        ),
        _fig2(
            name="between_alike", statistic="evenness", players=_BETWEEN, threshold=0.8,
            claim="The three that decide between clusters matter alike (the least at least 0.8 of the most).",
        ),
        _fig2(
            name="higher_wins", statistic="larger_favoured", players=(_WITHIN, *_BETWEEN), threshold=0,
            claim="Each of the four speaks for the item that has more of it.",
        ),
        _fig2(
            name="utility_misses_it", model="upm", statistic="larger_favoured", side="below", threshold=0.5,
            players=(_WITHIN, *_BETWEEN),
            claim="For the utility model, none of the four clearly speaks for the item with more of it.",
        ),
        _fig3(name="ab_first", claim="Between A and B, what decides between the two matters most."),
        _fig3(
            name="utility_misses_ab", model="upm", side="below",
            claim="For the utility model, what decides between A and B does not matter most there.",
        ),
    ),
)  # fmt: skip

_FOUR = ("Fire", "Water", "Normal", "Psychic")
"""Only fire and water have an advantage over one another. The paper does not name its other two types."""
_types = tuple(f"types={name}" for name in _FOUR)
_fig4 = partial(Finding, source="pref-shap, Figure 4", explained="all")
_fig5 = partial(
    Finding, source="pref-shap, Figure 5", explained="four_types", statistic="importance_ratio", players=_types[:2],
    rivals=_types[2:], threshold=1,
)  # fmt: skip

POKEMON = ExplainConfig(
    kinds=(
        _OF_ALL,
        DuelKind(
            name="four_types", title=f"Battles of types {', '.join(_FOUR)}", within=("types", _FOUR), apart=_types,
        ),
    ),
    findings=(
        _fig4(
            name="speed_matters", claim="Speed matters.", statistic="importance_share", players=("speed",),
            threshold=1 / 8,
        ),
        _fig4(
            name="faster_wins", claim="Speed speaks for the faster one.", statistic="larger_favoured",
            players=("speed",), threshold=0,
        ),
        _fig4(
            name="types_matter", claim="Types matter.", statistic="importance_share", players=("types",),
            threshold=1 / 8,
        ),
        _fig4(
            name="utility_misses_speed", claim="The utility model does not see that speed matters.", model="upm",
            statistic="importance_share", players=("speed",), side="below", threshold=1 / 8,
        ),
        _fig5(name="fire_and_water", claim="Among four types, fire and water matter most."),
        _fig5(
            name="utility_misses_types", model="upm", side="below",
            claim="For the utility model, fire and water do not matter most among four types.",
        ),
    ),
)  # fmt: skip

_fig6 = partial(Finding, source="pref-shap, Figure 6", explained="all")
_PHYSIQUE = ("casque_height", "flank_patch")

CHAMELEON = ExplainConfig(
    kinds=(
        DuelKind(
            name="all", title="All contests, each held out once",
            together=("earlier contests", ("won_last", "wins_of_last_two", "prior_wins")),
        ),
    ),
    findings=(
        _fig6(
            name="utility_casque_and_patch", model="upm", statistic="importance_ratio", players=_PHYSIQUE, threshold=1,
            claim="For the utility model, casque height and flank patch matter most.",
        ),
        _fig6(
            name="utility_casque_and_patch_win", model="upm", statistic="larger_favoured", players=_PHYSIQUE,
            claim="For the utility model, both speak for the male that has more.", threshold=0,
        ),
        _fig6(
            name="jaw_against", statistic="larger_favoured", players=("jaw_length",), side="below", threshold=0,
            claim="A longer jaw speaks against its owner.",
        ),
    ),
)  # fmt: skip

_fig7 = partial(
    Finding, source="pref-shap, Figure 7", explained="all", model="c_gpm", statistic="larger_favoured", threshold=0
)
_fig8 = partial(Finding, source="pref-shap, Figure 8", model="c_gpm", threshold=0)
_PLAYER = "Novak Djokovic"

TENNIS = ExplainConfig(
    kinds=(
        _OF_ALL,
        DuelKind(name="environment", title="Where all held-out matches were played", by_contexts=True),
        DuelKind(name="losses", title=f"Matches that {_PLAYER} lost", lost_by=_PLAYER),
        DuelKind(
            name="losses_on_clay", title=f"Where {_PLAYER} lost on clay", lost_by=_PLAYER, by_contexts=True,
            where=("surface", "Clay"),
        ),
        DuelKind(
            name="losses_indoors", title=f"Where {_PLAYER} lost indoors", lost_by=_PLAYER, by_contexts=True,
            where=("conditions", "indoor"),
        ),
    ),
    findings=(
        _fig7(name="older", claim="Being older is an advantage.", players=("birth_year",), side="below"),
        _fig7(name="heavier", claim="Being heavier is an advantage.", players=("weight",)),
        _fig7(name="taller", claim="Being taller is an advantage.", players=("height",)),
        _fig7(
            name="earlier", claim="Having turned professional earlier is an advantage.", players=("turned_pro",),
            side="below",
        ),
        _fig7(
            name="no_environment", explained="environment", statistic="mean_value", side="below", threshold=0.05,
            claim="Where a match is played moves little (winners gain less than 5% in odds).",
            players=("conditions", "surface"),
        ),
        _fig8(
            name="shorter", claim=f"{_PLAYER} loses to players who are shorter.", explained="losses",
            statistic="larger_favoured", players=("height",), side="below",
        ),
        _fig8(
            name="clay", claim=f"Clay speaks against {_PLAYER}.", explained="losses_on_clay", statistic="mean_value",
            players=("surface",),
        ),
        _fig8(
            name="indoors", claim=f"A roof speaks against {_PLAYER}.", explained="losses_indoors",
            statistic="mean_value", players=("conditions",),
        ),
    ),
)  # fmt: skip
