"""Growing preference trees level by level, any number of them at once (dt-pbo sections 3.1 and C.2, DESIGN 3.1).

The nodes of one level, of all trees, are scored and split together in array operations, so that 5,000 trees of 36
pairs cost little more than one tree of 180,000 pairs. The work grows with the items: the pairs of a node enter only
through the surplus of each item, its wins minus its losses there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from sklearn.utils._param_validation import validate_parameter_constraints

from models.numerics.hashing import HashArray, mix
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.trees.growth.binning import MISSING, Binned, CodeArray
from models.trees.growth.options import GROWTH_CONSTRAINTS, CategoriesOf, Straddlers, refuse_old_words
from models.trees.growth.pairs import Batches, Followed, Pairs, PairsInBatches, PairsInMemory
from models.trees.growth.splits import Candidates, TieBreak, Ties, category_splits, threshold_splits
from models.trees.growth.trees import InSets, Trees, TreesBuilder

MOST_CELLS = 2**26
"""Most cells of a table (nodes, codes) of the categories that the nodes of a level hold; more are sorted instead."""


@dataclass(frozen=True)
class Growth:
    """How trees grow; the defaults are the paper's. Raises ValueError for a value that is not valid.

    max_categories: a node splits a categorical column only if it holds at most this many categories (None: any number).
    categories_of: which categories a node holds: those of all items in its region (the paper's C_{A,k}, over x in A),
        or only those of the items in its pairs.
    straddlers: pairs that a split separates are discarded below it, or kept as in C.2 (Eq. 11-13).
    tie_break: which of equally scored splits is taken: the lowest (column, then threshold), the one with the widest gap
        between its two values, as a share of the column's range (1 for a categorical split), or a random one.
    max_depth: depth of the deepest leaf allowed; None for no limit, 0 for a single leaf.
    min_samples_split: comparisons a node needs to be split.
    min_score: score a split needs, as a share of the node's comparisons.

    >>> Growth(max_depth=2, tie_break="widest_gap").straddlers
    'discard'
    >>> Growth(straddlers="kept")
    Traceback (most recent call last):
    ...
    ValueError: straddlers is now 'discard' or 'keep': write 'keep' for 'kept'
    """

    max_categories: int | None = 3
    categories_of: CategoriesOf = "region"
    straddlers: Straddlers = "discard"
    tie_break: TieBreak = "lowest"
    max_depth: int | None = None
    min_samples_split: int = 1
    min_score: float = 0.0

    def __post_init__(self) -> None:
        """Check the values."""
        refuse_old_words(self.straddlers)
        validate_parameter_constraints(GROWTH_CONSTRAINTS, vars(self), "Growth")


@dataclass(frozen=True, eq=False)
class _Level:
    """The growing nodes of one depth, their comparisons and their items.

    nodes: (nodes,) their numbers among the nodes of all trees; hashes: (nodes,) hashes of their paths from the root;
        spreads: (d, nodes) the range of each column over the items of each node's tree.
    pairs: the comparisons within the nodes.
    items, node: (entries,) the item of each entry, and the position of its node in `nodes`.
    starts: (nodes + 1,) where each node's entries begin, the same in every column's order.
    orders, codes: for each column (entries,) the entries sorted by (node, value), and the codes of their values in that
        order.
    region: (m,) position in `nodes` of each item, -1 once its leaf is settled; None where growth does not need it.
    """

    nodes: IntArray
    hashes: HashArray
    spreads: FloatArray
    pairs: Pairs
    items: IntArray
    node: IntArray
    starts: IntArray
    orders: Sequence[IntArray]
    codes: Sequence[CodeArray]
    region: IntArray | None


@dataclass(frozen=True, eq=False)
class _Chosen:
    """The split of each node of a level; column is -1 for a leaf."""

    column: IntArray
    score: IntArray  # signed
    missing_left: BoolArray
    threshold: FloatArray
    left_sets: dict[int, IntArray] = field(default_factory=dict)


def grow(
    binned: Binned, comparisons: IntArray, tree_of_item: IntArray, n_trees: int, seeds: IntArray, growth: Growth
) -> Trees:
    """Grow one tree for each group of items from the comparisons within it.

    comparisons: (n, 2) items, winner first, both of one tree; tree_of_item: (m,) in [0, n_trees); seeds: (n_trees,) for
    the random tie rule. Arrays are not checked: `PreferenceTrees.fit` does that.

    >>> from models.numerics.validation import check_columns
    >>> from models.trees.growth.binning import bin_items
    >>> binned = bin_items(np.array([[1.0], [2.0], [1.0], [2.0]]), check_columns(None, 1))
    >>> tree_of_item = np.array([0, 0, 1, 1])
    >>> grow(binned, np.array([[1, 0], [2, 3]]), tree_of_item, 2, np.array([0, 1]), Growth()).leaf_of_item
    array([0, 1, 0, 1])
    """
    used = np.zeros(len(tree_of_item), dtype=bool)
    used[comparisons] = True
    items, entry_of = np.flatnonzero(used), np.cumsum(used) - 1
    trees = np.flatnonzero(np.bincount(tree_of_item[items], minlength=n_trees))
    place = np.cumsum(np.bincount(trees, minlength=n_trees)) - 1
    pairs = PairsInMemory(
        winners=entry_of[comparisons[:, 0]],
        losers=entry_of[comparisons[:, 1]],
        node=place[tree_of_item[comparisons[:, 0]]],
        n_entries=len(items),
        n_nodes=len(trees),
        masked=None if growth.straddlers == "discard" else np.zeros((binned.n_columns, len(comparisons)), dtype=bool),
    )
    return _grow(binned, pairs, items, tree_of_item, seeds, growth)


def grow_from_batches(binned: Binned, batches: Batches, seed: int, growth: Growth) -> Trees:
    """Grow one tree over all items from comparisons in batches; it equals the tree `grow` makes of them, node for node.

    Takes one pass over the batches for each level. Raises ValueError for straddlers="keep": the columns each straddler
    is masked on can only be stored for comparisons in memory.

    >>> from models.numerics.validation import check_columns
    >>> from models.trees.growth.binning import bin_items
    >>> from models.trees.growth.pairs import ArrayBatches
    >>> binned = bin_items(np.array([[1.0], [2.0]]), check_columns(None, 1))
    >>> grow_from_batches(binned, ArrayBatches([np.array([[1, 0]])], n_items=2), 0, Growth()).leaf_of_item
    array([0, 1])
    """
    if growth.straddlers == "keep":
        raise ValueError("straddlers can be kept only where all comparisons are in memory: use fit")
    one_tree = np.zeros(len(binned.items), dtype=np.int64)
    pairs, items = PairsInBatches.at_root(batches, one_tree, 1)
    return _grow(binned, pairs, items, one_tree, np.array([seed]), growth)


def _grow(
    binned: Binned, pairs: Pairs, items: IntArray, tree_of_item: IntArray, seeds: IntArray, growth: Growth
) -> Trees:
    builder = TreesBuilder(len(seeds))
    level = _root_level(binned, pairs, items, tree_of_item, seeds, growth) if len(items) else None
    while level is not None:
        chosen = _choose(level, binned, growth, builder)
        level = _descend(level, chosen, binned, builder)
    return builder.finish(binned.items, tree_of_item)


def _root_level(
    binned: Binned, pairs: Pairs, items: IntArray, tree_of_item: IntArray, seeds: IntArray, growth: Growth
) -> _Level:
    size_of_tree = np.bincount(tree_of_item[items], minlength=len(seeds))
    trees = np.flatnonzero(size_of_tree)
    orders, codes = binned.orders, binned.codes
    if len(items) < len(tree_of_item) or len(trees) > 1:
        entry_of = np.full(len(tree_of_item), -1)
        entry_of[items] = np.arange(len(items))
        mine = [np.flatnonzero(entry_of.take(order) >= 0) for order in binned.orders]
        if len(trees) > 1:  # a stable sort by tree keeps the order by value within each tree
            by_tree = zip(mine, binned.orders, strict=True)
            mine = [rows[np.argsort(tree_of_item[order[rows]], kind="stable")] for rows, order in by_tree]
        orders = tuple(entry_of.take(order.take(rows)) for order, rows in zip(orders, mine, strict=True))
        codes = tuple(code.take(rows) for code, rows in zip(codes, mine, strict=True))
    place = np.full(len(seeds), -1)
    place[trees] = np.arange(len(trees))
    return _Level(
        nodes=trees,
        hashes=mix(seeds[trees], 0),
        spreads=_spreads(binned, tree_of_item, len(seeds))[:, trees],
        pairs=pairs,
        items=items,
        node=place.take(tree_of_item.take(items)),
        starts=np.r_[0, np.cumsum(size_of_tree[trees])],
        orders=orders,
        codes=codes,
        region=place[tree_of_item] if _needs_regions(binned, growth) else None,
    )


def _spreads(binned: Binned, tree_of_item: IntArray, n_trees: int) -> FloatArray:
    """The range of each column over the items of each tree, (d, n_trees); 1 where all values are equal."""
    low, high = np.full((2, n_trees, binned.n_columns), np.nan)
    if n_trees == 1:
        for k, values in enumerate(binned.values):
            if len(values):
                low[0, k], high[0, k] = values[0], values[-1]
    else:
        np.fmin.at(low, tree_of_item, binned.items)
        np.fmax.at(high, tree_of_item, binned.items)
    return np.where(high > low, high - low, 1.0).T


def _needs_regions(binned: Binned, growth: Growth) -> bool:
    return growth.max_categories is not None and growth.categories_of == "region" and any(binned.categorical)


def _choose(level: _Level, binned: Binned, growth: Growth, builder: TreesBuilder) -> _Chosen:
    """The best split of each node over all columns, under the growth limits."""
    n_pairs = level.pairs.n_pairs
    best: Candidates | None = None
    column = np.zeros(len(level.nodes), dtype=np.int64)
    found: list[Candidates] = []
    for k in range(binned.n_columns):
        candidates = _candidates(level, binned, growth, k)
        found.append(candidates)
        if best is None:
            best = candidates
            continue
        better = (candidates.score > best.score) | (
            (candidates.score == best.score) & (candidates.priority > best.priority)
        )
        column[better] = k
        best = _take(best, candidates, better)
    assert best is not None
    grows = (best.score > 0) & (n_pairs >= growth.min_samples_split) & (best.score >= growth.min_score * n_pairs)
    if growth.max_depth is not None:
        grows &= builder.depth < growth.max_depth
    column = np.where(grows, column, -1)
    builder.record_pairs(level.nodes, n_pairs)
    return _placed(level, binned, column, best, found)


def _take(best: Candidates, other: Candidates, where: BoolArray) -> Candidates:
    return Candidates(
        np.where(where, other.score, best.score),
        np.where(where, other.priority, best.priority),
        np.where(where, other.position, best.position),
        np.where(where, other.missing_left, best.missing_left),
        np.where(where, other.signed, best.signed),
    )


def _candidates(level: _Level, binned: Binned, growth: Growth, k: int) -> Candidates:
    codes = level.codes[k]
    ties = Ties(growth.tie_break, level.hashes, k, level.spreads[k])
    in_order = level.pairs.surplus(k).take(level.orders[k])
    if not binned.categorical[k]:
        return threshold_splits(in_order, codes, level.starts, binned.values[k], ties)
    allowed = np.ones(len(level.nodes), dtype=bool)
    if growth.max_categories is not None:
        held = _categories_held(level, binned, k)
        allowed = held <= growth.max_categories
    return category_splits(in_order, codes, level.starts, allowed, ties)


def _categories_held(level: _Level, binned: Binned, k: int) -> IntArray:
    """Number of categories each node holds: those of its pairs and, if regions are needed, of all items there."""
    n_nodes, n_codes = len(level.nodes), len(binned.values[k])
    known = np.flatnonzero(level.codes[k] != MISSING)
    nodes, codes = level.node.take(level.orders[k].take(known)), level.codes[k].take(known)
    if level.region is not None:
        inside = np.flatnonzero((level.region >= 0) & ~np.isnan(binned.items[:, k]))
        nodes = np.r_[nodes, level.region[inside]]
        codes = np.r_[codes, binned.items[inside, k].astype(np.int64)]
    if n_nodes * n_codes > MOST_CELLS:
        return np.bincount(np.unique(nodes * n_codes + codes) // n_codes, minlength=n_nodes)
    seen = np.zeros((n_nodes, n_codes), dtype=bool)
    seen[nodes, codes] = True
    return np.asarray(seen.sum(axis=1))


def _placed(level: _Level, binned: Binned, column: IntArray, best: Candidates, found: list[Candidates]) -> _Chosen:
    """Turn the chosen positions into splits: a threshold midway between two values, or a set of categories."""
    n_nodes = len(column)
    threshold = np.full(n_nodes, np.nan)
    left_sets: dict[int, IntArray] = {}
    for k in range(binned.n_columns):
        nodes = np.flatnonzero(column == k)
        sets = found[k].left_sets
        if sets is not None:
            left_sets.update((int(node), sets.of(int(node))) for node in nodes)
        elif len(nodes):
            values = binned.values[k]
            at = best.position[nodes]
            below, above = values[level.codes[k][at]], values[level.codes[k][at + 1]]
            middle = 0.5 * below + 0.5 * above
            # The middle of two neighbouring floats rounds to one of them; the lower one must still fall left.
            threshold[nodes] = np.where(middle > below, middle, above)
    return _Chosen(column, best.signed, best.missing_left, threshold, left_sets)


def _falls_left(chosen: _Chosen, binned: Binned, node: IntArray, item: IntArray) -> BoolArray:
    """Whether each item falls left in the split of its node; every node given must be split."""
    column = chosen.column.take(node)
    values = binned.items.ravel().take(item * binned.n_columns + column)
    left = values < chosen.threshold.take(node)
    if chosen.left_sets:
        in_set = InSets(chosen.left_sets)
        by_set = np.flatnonzero(np.isnan(chosen.threshold)[node])
        left[by_set] = in_set(node[by_set], values[by_set])
    missing = np.isnan(values)
    if missing.any():
        left[missing] = chosen.missing_left[node[missing]]
    return left


def _descend(level: _Level, chosen: _Chosen, binned: Binned, builder: TreesBuilder) -> _Level | None:
    """Split the level's nodes: send items, pairs and sorted entries to the children (dt-pbo Eq. 8, 11)."""
    splits = chosen.column >= 0
    if not splits.any():
        return None
    left_child = np.full(len(splits), -1)  # position among the children; the right child follows
    left_child[splits] = 2 * np.arange(splits.sum())
    children = builder.split(
        level.nodes[splits],
        column=chosen.column[splits],
        threshold=chosen.threshold[splits],
        missing_left=chosen.missing_left[splits],
        score=chosen.score[splits],
        left_sets={int(level.nodes[at]): codes for at, codes in chosen.left_sets.items()},
    )
    region = level.region
    if region is not None:
        inside = np.flatnonzero((region >= 0) & splits[region])
        parent = region[inside]
        region = np.full(len(region), -1)
        region[inside] = left_child[parent] + ~_falls_left(chosen, binned, parent, inside)

    # The loser of a kept straddler lies outside the node's region; its entry still falls by its value.
    grows = np.flatnonzero(splits.take(level.node))
    node = level.node.take(grows)
    child = np.full(len(level.node), -1)
    child[grows] = left_child.take(node) + ~_falls_left(chosen, binned, node, level.items.take(grows))
    pairs = level.pairs.follow(child, chosen.column)
    return _next_level(level, left_child, pairs, children, region)


def _next_level(
    level: _Level, left_child: IntArray, pairs: Followed, children: IntArray, region: IntArray | None
) -> _Level | None:
    """Carry the entries that pairs still use to the children; a stable partition keeps each column's order.

    An entry has at most two successors: one in the child its value falls to and, as the loser of a kept straddler, one
    in the other child. All left children come before all right children, among entries as among nodes, so each column's
    order is partitioned once. Children without pairs are leaves and are not in the next level.
    """
    uses = pairs.uses
    to_left, to_right = np.flatnonzero(uses[0]), np.flatnonzero(uses[1])
    n_left, n_entries = len(to_left), len(to_left) + len(to_right)
    if not n_entries:
        return None
    twice = bool((uses[0] & uses[1]).any())
    successor = np.full((1 + twice, len(level.items)), -1, dtype=np.int32)  # one row if no entry goes to both
    successor[0, to_left] = np.arange(n_left)
    successor[-1, to_right] = np.arange(n_left, n_entries)
    carried_on = np.concatenate([to_left, to_right])
    items = level.items.take(carried_on)
    child = left_child.take(level.node.take(carried_on))
    child[n_left:] += 1

    orders, codes = [], []
    for order, code in zip(level.orders, level.codes, strict=True):
        followed = [row.take(order) for row in successor]
        left = np.flatnonzero(followed[0].view(np.uint32) < n_left)  # as unsigned, -1 is the largest number
        right = np.flatnonzero(followed[-1] >= n_left)
        new_order = np.empty(n_entries, dtype=np.int64)
        new_order[:n_left], new_order[n_left:] = followed[0].take(left), followed[-1].take(right)
        orders.append(new_order)
        codes.append(code.take(np.concatenate([left, right])))

    sizes = np.bincount(child, minlength=len(children))
    left_first = np.arange(len(children)).reshape(-1, 2).T.ravel()
    busy = left_first[sizes[left_first] > 0]
    place = np.full(len(children), -1)
    place[busy] = np.arange(len(busy))
    parents = np.flatnonzero(left_child >= 0)[busy // 2]
    return _Level(
        nodes=children[busy],
        hashes=mix(level.hashes[parents], busy % 2 + 1),
        spreads=level.spreads[:, parents],
        pairs=pairs.settle(successor, items, place),
        items=items,
        node=place.take(child),
        starts=np.r_[0, np.cumsum(sizes[busy])],
        orders=orders,
        codes=codes,
        region=None if region is None else np.where(region >= 0, place[region], -1),
    )
