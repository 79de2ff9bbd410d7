"""Random trees of all kinds, and trees of special shapes; used by several test files."""

import numpy as np
from hypothesis import strategies as st

from ppdt.growing import LEAF, MULTIWAY, ONE_VALUE, THRESHOLD, Tree

NAMES, VALUES = (
    ["a", "b", "c", "x", "z"],
    [
        ["v0", "v1"],
        ["v0", "v1", "v2"],
        ["v0", "v1", "v2", "v3"],
        ["<=", ">"],
        [1.0, 2.5, 4.0],
    ],
)


def make_tree(parent, attribute, kind, cut, code, counts, names, values, classes, level=None):
    counts = np.array(counts, dtype=float)
    level = np.zeros(len(parent), dtype=int) if level is None else np.array(level)
    return Tree(
        np.array(parent),
        np.array(attribute),
        level,
        np.array(kind),
        np.array(cut, dtype=float),
        np.array(code),
        counts,
        counts.sum(axis=1),
        list(names),
        [list(o) for o in values],
        np.array(classes, dtype=object),
    )


def random_tree(
    rng,
    n_inner,
    kinds=(MULTIWAY, THRESHOLD, ONE_VALUE),
    n_classes=2,
    deep=None,
    fractions=False,
    empty=True,
    names=NAMES,
    values=VALUES,
    classes=None,
):
    """Split random leaves until there are `n_inner` questions; `deep`: always the last leaf (True),
    always the first (False)
    """
    parent, attribute, kind, cut, code, leaves = [-1], [-1], [LEAF], [np.nan], [-1], [0]
    for _ in range(n_inner):
        i = leaves.pop({True: -1, False: 0, None: int(rng.integers(len(leaves)))}[deep])
        k = int(rng.choice(kinds))
        j = int(
            rng.choice(
                [3, 4] if k == THRESHOLD and len(names) == 5 else np.arange(min(3, len(names)))
            )
        )
        attribute[i], kind[i] = j, k
        cut[i] = {
            MULTIWAY: np.nan,
            THRESHOLD: float(rng.choice([-1.5, 0, 1.25, 2, 3.5])),
            ONE_VALUE: float(rng.integers(len(values[j]))),
        }[k]
        n = len(values[j]) if k == MULTIWAY else 2
        leaves += range(len(parent), len(parent) + n)
        parent += [i] * n
        attribute += [-1] * n
        kind += [LEAF] * n
        cut += [np.nan] * n
        code += range(n)
    counts = np.zeros((len(parent), n_classes))
    for i in leaves:
        counts[i] = rng.integers(0 if empty else 1, 5, n_classes) * (
            rng.random() if fractions else 1
        )
    if not counts.any():
        counts[leaves[0], 0] = 1
    for i in range(len(parent) - 1, 0, -1):
        counts[parent[i]] += counts[i]
    return make_tree(
        parent,
        attribute,
        kind,
        cut,
        code,
        counts,
        names,
        values,
        [f"c{i}" for i in range(n_classes)] if classes is None else classes,
    )


def trees(kinds=(MULTIWAY, THRESHOLD, ONE_VALUE), max_inner=8, fractions=(False, True), **kw):
    return st.builds(
        lambda seed, n, c, f: random_tree(
            np.random.default_rng(seed), n, kinds, c, fractions=f, **kw
        ),
        st.integers(0, 2**32 - 1),
        st.integers(0, max_inner),
        st.integers(1, 3),
        st.sampled_from(fractions),
    )


def random_row(rng, missing=0.2):
    """A plain row for such trees"""
    row = {
        "a": rng.choice(VALUES[0] + ["new"]),
        "b": rng.choice(VALUES[1] + ["new"]),
        "c": rng.choice(VALUES[2]),
        "x": rng.normal(1, 2),
        "z": float(rng.integers(-2, 5)),
    }
    return {o: None if rng.random() < missing else v for o, v in row.items()}


def as_numbers(row):
    """A row as numbers and codes, NaN where missing, -2 for a new value"""

    def one(name, values):
        v = row[name]
        if v is None:
            return np.nan
        return v if name in "xz" else values.index(v) if v in values else -2

    return np.array([[one(o, v)] for o, v in zip(NAMES, VALUES)], dtype=float)


def chain(depth, kind=THRESHOLD):
    """A tree `depth` deep: node 2i + 1 is a leaf, node 2i + 2 goes on"""
    n = 2 * depth + 1
    inner = (np.arange(n) % 2 == 0) & (np.arange(n) < n - 1)
    counts = np.tile([1.0, 2.0], (n, 1))
    counts[::2] *= np.arange(depth + 1, 0, -1)[:, None]
    cut = np.where(
        inner,
        np.arange(n) // 2 if kind == THRESHOLD else 0 if kind == ONE_VALUE else np.nan,
        np.nan,
    )
    return make_tree(
        [-1] + [2 * (i // 2) for i in range(n - 1)],
        np.where(inner, 0, -1),
        np.where(inner, kind, LEAF),
        cut,
        [-1] + [0, 1] * depth,
        counts,
        ["a"],
        [["u", "v"]],
        ["no", "yes"],
    )
