"""Claims about the accuracy of respondents' trees and Gaussian processes, and about the size of trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from models.records.published import Published
from models.records.studies.respondent_results import DISCARDED, GP, GP_MODEL, KEPT, LEAVES, TEST, TRAIN, TREE_MODEL
from tasks.claims.declared import Claim, Order, Pair, Place, number

WHO: Mapping[str, str] = {TREE_MODEL: "trees", GP_MODEL: "Gaussian processes"}
WHERE: Mapping[str, str] = {TRAIN: "the choices they were fitted to", TEST: "held-out choices"}
KEPT_WORDS, DISCARDED_WORDS = "straddlers kept", "straddlers discarded"


def accuracy_claims(published: Sequence[Published], *, decimals: int) -> tuple[Claim, ...]:
    """One claim for each published accuracy of trees or processes.

    A tree whose variant was not published discards straddlers, as the paper says it does by default.
    """
    return tuple(_accuracy(each, decimals) for each in published)


def _accuracy(published: Published, decimals: int) -> Claim:
    table = published.source.rpartition(" ")[2]
    name = f"table_{table}_{published.variant or published.model}_{published.split}"
    which = {KEPT: f", with {KEPT_WORDS},", DISCARDED: f", with {DISCARDED_WORDS},"}.get(published.variant or "", "")
    words = (
        f"Respondents' {WHO[published.model]}{which} predict {WHERE[published.split]} "
        f"with an accuracy of {published.value:.{decimals}f}."
    )
    return number(name, published, words, *_places(published), decimals=decimals)


def _places(published: Published) -> tuple[Place, ...]:
    if published.model == GP_MODEL:
        return (Place(model=GP_MODEL, variant=GP, split=published.split),)
    discarded = Place(model=TREE_MODEL, variant=DISCARDED, split=published.split)
    kept = discarded.but(variant=KEPT)
    if published.variant == KEPT:
        return kept, discarded.but(protocol=DISCARDED_WORDS)
    return discarded, kept.but(protocol=KEPT_WORDS)


def smaller_trees(source: str) -> Claim:
    """The claim that discarding straddlers keeps trees small without limits of growth."""
    discarded = Place(model=TREE_MODEL, variant=DISCARDED, metric=LEAVES, split=TRAIN)
    return Claim(
        name="smaller_trees",
        source=source,
        words="Trees that discard straddlers have fewer leaves than trees that keep them.",
        test=Order(pairs=(Pair(first=discarded, second=discarded.but(variant=KEPT)),), side="below"),
    )


def tree_against_process(source: str, *, split: str, side: str, words: str) -> Claim:
    """A claim about the accuracy of trees that discard straddlers, compared with that of Gaussian processes."""
    tree = Place(model=TREE_MODEL, variant=DISCARDED, split=split)
    pair = Pair(first=tree, second=tree.but(model=GP_MODEL, variant=GP))
    return Claim(
        name=f"tree_against_process_{split}",
        source=source,
        words=words,
        test=Order.model_validate({"pairs": (pair,), "side": side}),
    )
