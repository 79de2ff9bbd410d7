"""The least loss that groups can have, of some tens of rows, or of two hundred in pairs and threes.

Every set of k to 2k - 1 rows is a column of a linear program: which of them hold every row once,
and lose least? Without the demand for whole columns the program gives a bound, and a price of each
row. A column whose price is so far above its rows' that it would lift the bound above what is known
to be possible cannot be in a better solution; without those the program in whole columns is small.
"""

from itertools import combinations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csc_array

from ppdt.engine.group_loss import WHOLE, RangePart, column_parts
from ppdt.tables import encode

MANY = 5000  # columns that join the program at a time
NEAR = 1e-9


def all_groups(n, k):
    """All sets of k to 2k - 1 of n rows, one array of shape (n_groups, size) for each size"""
    sizes = range(k, min(2 * k, n + 1))
    return [np.array(list(combinations(range(n), m)), dtype=np.int16) for m in sizes]


def _counted(codes):
    """How many different codes each line of an array has"""
    return 1 + (np.diff(np.sort(codes, axis=1), axis=1) != 0).sum(axis=1)


def losses(parts, groups):
    """What all rows of each group lose together, in columns; groups of one size"""
    total = np.zeros(len(groups), dtype=np.int64)
    for p in parts:
        c = p.codes[groups]
        if isinstance(p, RangePart):
            total += p.price(p.low[c].min(axis=1), p.high[c].max(axis=1))
        else:
            total += p.by_count[_counted(c)]
    return total * groups.shape[1] / WHOLE


def _holds(groups, n):
    """Which rows each column holds, shape (n_rows, n_groups)"""
    row = np.concatenate([g.ravel() for g in groups])
    sizes = np.concatenate([np.full(len(g), g.shape[1]) for g in groups])
    ends = np.append(0, np.cumsum(sizes))
    return csc_array((np.ones(len(row)), row, ends), shape=(n, len(sizes)))


def _above(groups, prices, of_row):
    """By how much each column is above the prices of its rows"""
    return [p - of_row[g].sum(axis=1) for g, p in zip(groups, prices)]


def _cheapest(above):
    """Places of the columns of each size that are above their rows' prices by least"""
    return [np.argsort(a, kind="stable")[:MANY] for a in above]


def relaxed(groups, prices, n):
    """(bound, price of each row) of the program in fractions of columns.

    Columns join it while some lie below the prices of their rows. Those that have joined may lie
    there, too, by as little as the solver leaves; they are not asked again.
    """
    chosen = [np.arange(n)[:, None]]  # a row alone, dear: so that every program has a solution
    costs = [np.full(n, max(p.max() for p in prices) + 1.0)]
    inside = [np.zeros(len(p), dtype=bool) for p in prices]
    above = prices
    while True:
        for taken, g, p, at in zip(inside, groups, prices, _cheapest(above)):
            at = at[~taken[at]]
            taken[at] = True
            chosen.append(g[at])
            costs.append(p[at])
        held, cost = _holds(chosen, n), np.concatenate(costs)
        found = linprog(cost, A_eq=held, b_eq=np.ones(n), method="highs")
        above = _above(groups, prices, found.eqlin.marginals)
        above = [np.where(o, np.inf, a) for o, a in zip(inside, above)]
        if min(a.min() for a in above) >= -NEAR:
            return found.fun, found.eqlin.marginals


def _columns(X, k):
    """(groups of each size, what all rows of each lose) of a table"""
    parts = [p for o in X for p in column_parts(*encode(X[o]))]
    groups = all_groups(len(X), k)
    return groups, [losses(parts, g) for g in groups]


def bound(X, k):
    """What no groups of k rows and more go below, on average over rows and columns.

    Of two hundred rows where k is 2, of some tens where it is 3: all groups are looked at.
    """
    return relaxed(*_columns(X, k), len(X))[0] / X.size


def _chosen(cost, held):
    """The least cost of columns that hold each row once"""
    for presolve in (True, False):  # which is quicker, and now and then gives up
        found = milp(
            cost,
            constraints=LinearConstraint(held, 1, 1),
            integrality=np.ones(len(cost)),
            bounds=Bounds(0, 1),
            options={"mip_rel_gap": 0, "presolve": presolve},
        )
        if found.success:
            return found.fun
    raise RuntimeError(f"The best groups were not found: {found.message}")


def best_groups(X, k, possible=np.inf):
    """(bound, least) spread loss on average over rows and columns, of all ways to make groups.

    Parameters
    ----------
    X : DataFrame
        Some thirty rows.
    k : int
        Rows of a group.
    possible : float
        A loss that some groups have; the nearer to the least, the smaller the program.
    """
    n, cells = len(X), X.size
    groups, prices = _columns(X, k)
    least, of_row = relaxed(groups, prices, n)
    room = possible * cells - least + NEAR
    keep = [a <= room for a in _above(groups, prices, of_row)]
    held = _holds([g[o] for g, o in zip(groups, keep)], n)
    cost = np.concatenate([p[o] for p, o in zip(prices, keep)])
    return least / cells, _chosen(cost, held) / cells
