"""Groups, tiers and words that the ERP paper does not describe: readings of its Table 2.

Used by erp_runs.py. A tree is a list of parents, each before its children, and the leaf of each
row.
"""

from types import SimpleNamespace

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from ppdt.c45 import C45Classifier
from ppdt.engine.inducers import stops_of
from ppdt.engine.opening import open_model
from ppdt.engine.recoding import published_column
from ppdt.engine.tiers import RowSpace, row_tiers
from ppdt.erp import ERPAnonymizer
from ppdt.generalization import interval_recoding, set_recoding
from ppdt.loss import ncp
from ppdt.privacy import audit
from ppdt.tables import cell_text, cells, encode, is_exact


# ---------- trees
def c45_tree(X, y, **options):
    """(parents, function from rows to leaves) of an unpruned tree of C4.5"""
    m = C45Classifier(prune=False, **options).fit(X, y)
    opened = open_model(m, None)
    return m.tree_.parent.tolist(), lambda rows: stops_of(opened, rows)


def cart_tree(X, y, **options):
    """The same of CART by entropy; a category is the number of its value"""

    def numbers(rows):
        each = [rows[o].cat.codes if rows[o].dtype == "category" else rows[o] for o in rows]
        return np.column_stack(each).astype(np.float32)

    m = DecisionTreeClassifier(criterion="entropy", random_state=0, **options).fit(numbers(X), y)
    parent = np.full(m.tree_.node_count, -1)
    for sons in (m.tree_.children_left, m.tree_.children_right):
        parent[sons[sons >= 0]] = np.flatnonzero(sons >= 0)
    return parent.tolist(), lambda rows: m.apply(numbers(rows))


# ---------- groups of leaves
def undone(groups, k):
    """A question with a group of fewer than k rows is undone: rule minimal of the paper's pruning.

    `groups`: lists of rows below a question, at least one of them too small
    """
    return [np.concatenate(groups)]


def joined(groups, k):
    """The smallest group joins the next smallest, until all have k rows or one is left"""
    while len(groups) > 1 and min(map(len, groups)) < k:
        a, b, *rest = sorted(groups, key=len)
        groups = [*rest, np.concatenate([a, b])]
    return groups


def climbing(groups, k):
    """Small groups become one, which goes on as it is when it is small still"""
    small = [g for g in groups if len(g) < k]
    return [g for g in groups if len(g) >= k] + [np.concatenate(small)]


def leaf_groups(parent, leaf, k, way):
    """The group of each row, from the leaves upward; `way` says what becomes of small groups"""
    n_nodes, n_rows = len(parent), len(leaf)
    order = np.argsort(leaf, kind="stable")
    ends = np.searchsorted(leaf[order], np.arange(n_nodes + 1))
    held = [[order[a:b]] if b > a else [] for a, b in zip(ends, ends[1:])]
    for v in range(n_nodes - 1, -1, -1):
        if any(len(g) < k for g in held[v]) and len(held[v]) > 1:
            held[v] = way(held[v], k)
        if v:
            # what is smaller than k waits for its brothers
            held[parent[v]] = held[v] + held[parent[v]]
    groups = held[0]
    if min(map(len, groups)) < k:
        groups = joined(groups, k)
    res = np.empty(n_rows, dtype=np.int64)
    for i, g in enumerate(groups):
        res[g] = i
    return res


def alike(X, groups):
    """Every row with the ranges and sets of its group"""
    res = {}
    for o in X:
        a, codes = encode(X[o])
        recode = interval_recoding if a.kind == "numeric" else set_recoding
        res[o] = published_column(X[o], *recode(a, codes, groups))
    return pd.DataFrame(res)


class LeafGroups:
    """Publishes groups of a tree's leaves alike, as far as erp_runs needs it"""

    def __init__(self, k, way, grow=c45_tree, **options):
        self.k, self.way, self.grow, self.options = k, way, grow, options

    def anonymize(self, X, y):
        """Something like a release: `data`, `y`, `audit`"""
        parent, self.stops = self.grow(X, y, **self.options)
        leaf = self.stops(X)
        self.groups_ = leaf_groups(parent, leaf, self.k, self.way)
        data = alike(X, self.groups_)
        self._note(parent, leaf)
        self.rows = data.iloc[np.unique(self.groups_, return_index=True)[1]]
        found = audit(data, list(X), self.k, original=X, lost=[], consistency=False, y=y)
        return SimpleNamespace(data=data, y=y, audit=found)

    def _note(self, parent, leaf):
        """The group of each node: of its own rows, else the one that most rows below the nearest
        node above have
        """
        below = [np.zeros(0, dtype=np.int64)] * len(parent)
        for v in range(len(parent) - 1, -1, -1):
            below[v] = np.concatenate([below[v], self.groups_[leaf == v]])
            if v:
                below[parent[v]] = np.concatenate([below[parent[v]], below[v]])
        self.group_of = np.zeros(len(parent), dtype=np.int64)
        for v, rows in enumerate(below):
            most = np.bincount(rows).argmax() if len(rows) else self.group_of[parent[v]]
            self.group_of[v] = most

    def transform(self, X):
        """New rows with the cells of the group that they come to"""
        return self.rows.iloc[self.group_of[self.stops(X)]].reset_index(drop=True)


# ---------- tiers
class RawSpace(RowSpace):
    """Numbers as they are: Euclid to the letter"""

    def __init__(self, attributes, codes):
        super().__init__(attributes, codes)
        self.numbers = [a.positions[c] for a, c in zip(attributes, codes) if a.kind == "numeric"]


class RawDistances(ERPAnonymizer):
    """Tiers whose neighbours are near in the numbers as they are"""

    def _tiers(self, g, task):
        space = RawSpace(task.attributes, g.codes)
        return row_tiers(g.parent.tolist(), g.leaf, space, task.k, self.strict_tiers)


# ---------- losses and words
def is_number(X, o):
    return pd.api.types.is_numeric_dtype(X[o])


def starred_loss(data, X):
    """GCP where a category of more than one value counts as all of them"""
    lost = []
    for o in X:
        if is_number(X, o):
            lost.append(float(ncp(data, X, [o])[o]))
            continue
        codes, found = cells(data[o])
        lost.append(float(np.mean([not is_exact(c) for c in np.array(found, dtype=object)[codes]])))
    return float(np.mean(lost))


def as_text(data, X, star):
    """Every cell as its text; `star`: a category of more than one value is `*`"""
    res = {}
    for o in data:
        codes, found = cells(data[o])
        hide = star and not is_number(X, o)
        text = ["*" if hide and not is_exact(c) else cell_text(c) for c in found]
        res[o] = np.array(text, dtype=object)[codes]
    return pd.DataFrame(res)


def as_words(text, known=None):
    """Texts as categories; what is not `known`, of the training rows, is missing. (table, known)"""
    known = {o: sorted(set(text[o])) for o in text} if known is None else known
    table = {}
    for o in text:
        place = {v: i for i, v in enumerate(known[o])}
        table[o] = pd.Categorical.from_codes([place.get(v, -1) for v in text[o]], known[o])
    return pd.DataFrame(table), known


def own_values(recoded, raw, star):
    """Rows that were recoded alike are a group, and published with their own values, as text"""
    groups = recoded.astype(str).agg("|".join, axis=1)
    return as_text(alike(raw, pd.factorize(groups)[0]), raw, star)
