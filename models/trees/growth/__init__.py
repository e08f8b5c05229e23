"""Growing trees: sorted columns, scored splits, followed pairs, and the arrays that many trees are kept in."""
