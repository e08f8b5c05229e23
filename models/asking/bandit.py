"""A bandit that keeps the winner of each question, as a reference for what asking finds (dt-pbo, section 4.2)."""

from __future__ import annotations


def favourite_found(n_items: int) -> tuple[float, ...]:
    """Chance that the winner so far is the favourite after 0 to n_items - 1 questions, each about one new item.

    >>> favourite_found(4)
    (0.25, 0.5, 0.75, 1.0)
    """
    return tuple((1 + question) / n_items for question in range(n_items))
