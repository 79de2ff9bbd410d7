"""kACTUS: the paper's figures to the row, and the worked numbers of the 14 customers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from ppdt._textbook import _textbook_climb
from ppdt.c45 import C45Classifier
from ppdt.datasets import load_customers
from ppdt.engine.climbing import nodes_to_lose, spare_first
from ppdt.engine.promises import NO_RERUN
from ppdt.growing import LEAF, MULTIWAY, THRESHOLD, Tree
from ppdt.kactus import (
    KActusAnonymizer,
    _settle,
    _wanted,
    climb,
    climb_text,
    load_adult_excerpt_tree,
)


@pytest.fixture(scope="module")
def tree():
    return load_adult_excerpt_tree()


def rows_of(tree):
    return np.repeat(np.arange(len(tree)), np.where(tree.attribute < 0, tree.n, 0).astype(int))


@pytest.fixture(scope="module")
def done(tree):
    return climb(tree, rows_of(tree), 100)


# ---------------------------------------------------------------- the paper's figures

FIGURE_1 = """\
01: marital-status = Married-civ-spouse
02: |   education = 11th: <=50K. (271)
03: |   education = Masters: >50K. (713)
04: |   education = 9th: <=50K. (158)
05: |   education = HS-grad: <=50K. (3436)
06: |   education = Some-college
07: |   |   occupation = Handlers-cleaners: <=50K. (69)
08: |   |   occupation = Exec-managerial
09: |   |   |   workclass = Private
10: |   |   |   |   race = Black: <=50K. (6)
11: |   |   |   |   race = White: >50K. (190)
12: |   |   |   |   race = Asian-Pac-Islander: <=50K. (3)
13: |   |   |   |   race = Other: <=50K. (1)
14: |   |   |   |   race = Amer-Indian-Eskimo: <=50K. (2)
15: |   |   |   workclass = Self-emp-not-inc: <=50K. (39)
16: |   |   |   workclass = State-gov: >50K. (8)
17: |   |   |   workclass = Federal-gov: >50K. (16)
18: |   |   |   workclass = Local-gov: <=50K. (23)
19: |   |   |   workclass = Self-emp-inc
20: |   |   |   |   sex = Male: >50K. (42)
21: |   |   |   |   sex = Female: <=50K. (4)
22: |   |   |   workclass = Without-pay: >50K. (0)
23: marital-status = Married-AF-spouse: <=50K. (16)""".splitlines()


def pruned(lines, node, rows):
    """The lines of a figure with a node pruned: those below it are gone, and it has rows"""
    at = next(i for i, o in enumerate(lines) if o.startswith(f"{node:02}: "))
    depth, end = lines[at].count("|   "), at + 1
    while end < len(lines) and lines[end].count("|   ") > depth:
        end += 1
    return [*lines[:at], f"{lines[at]} ({rows})", *lines[end:]]


def test_figures_1_to_4(done):
    c, _ = done
    figure_2 = pruned(FIGURE_1, 9, 100)
    figure_3 = pruned(figure_2, 19, 46)
    figure_4 = pruned(figure_3, 8, 132)
    assert [len(o) for o in (FIGURE_1, figure_2, figure_3, figure_4)] == [23, 18, 16, 9]
    for steps, lines in enumerate((FIGURE_1, figure_2, figure_3, figure_4)):
        assert climb_text(c, steps).splitlines() == lines


def test_figures_numbers_of_each_node(done):
    c, rest = done
    assert c.log.values.tolist() == [
        [9, (11,), 12, 90, 88, 102, 100],
        [19, (), 46, 0, 0, 0, 46],
        [8, (9,), 132, 0, 0, 100, 132],
        [6, (8,), 69, 32, 31, 101, 100],
        [1, (2, 3, 4, 5, 6), 0, 4178, 0, 4678, 0],
        [0, (), 16, 0, 0, 0, 16],
    ]
    assert (int(c.log.published.sum()), len(rest)) == (4981, 16)
    assert dict(zip(c.nodes.tolist(), map(len, c.batches))) == {
        11: 102,
        9: 100,
        8: 101,
        2: 271,
        3: 713,
        4: 158,
        5: 3436,
        6: 100,
    }


def test_figures_word_by_word(tree, done):
    c, rest = climb(tree, rows_of(tree), 100, "literal")
    assert c.log.values.tolist()[:4] == done[0].log.values.tolist()[:4]
    assert c.log.values.tolist()[4:] == [
        [1, (2, 3, 4, 5, 6), 0, 4178, 100, 4578, 100],
        [0, (1,), 16, 0, 0, 100, 16],
    ]
    assert len(rest) == 16


def test_figures_tree(tree):
    assert (len(tree), tree.n_leaves, tree.n[0], tree.classes.tolist()) == (
        24,
        18,
        4997,
        ["<=50K.", ">50K."],
    )
    assert tree.names == ["marital-status", "education", "occupation", "workclass", "race", "sex"]
    assert [tree.children(i).tolist() for i in (0, 1, 6, 8, 9, 19)] == [
        [1, 23],
        [2, 3, 4, 5, 6],
        [7, 8],
        [9, 15, 16, 17, 18, 19, 22],
        [10, 11, 12, 13, 14],
        [20, 21],
    ]


def test_figures_trees_on_the_way_hold_the_rows_that_are_left(done):
    c, rest = done
    y = np.arange(len(c.stops)) % 2
    for steps in range(7):
        assert c.after(steps, y).n[0] == 4997 - c.log.published[:steps].sum()
    assert (
        len(c.after(6, y)) == 1
        and c.after(6, y).counts[0].tolist() == np.bincount(y[rest]).tolist()
    )
    assert [len(c.after(o, y)) for o in range(5)] == [24, 19, 17, 10, 8]
    for f in (lambda o: c.after(o, y), lambda o: climb_text(c, o)):
        for steps in (-1, 7):
            with pytest.raises(ValueError, match="'steps' must be between 0 and 6"):
                f(steps)


def test_figures_5_case_by_case():
    """Complying sons and rows that wait, k = 10"""
    cases = [
        ([25, 14], 12, 19, 0),
        ([25, 14], 4, 6, 6),
        ([11, 12], 4, 0, 0),
        ([25, 14], 0, 10, 0),
        ([12, 13], 0, 0, 0),
    ]
    for sons, nui, literal, intended in cases:
        extra = sum(o - 10 for o in sons)
        assert (_wanted(nui, extra, 10, "literal"), _wanted(nui, extra, 10)) == (literal, intended)


def ages(n):
    """The path of Section 4.5: age at 29.5, 49.5 and 39.5; rows of the four leaves"""
    kind = np.array([THRESHOLD, LEAF, THRESHOLD, THRESHOLD, LEAF, LEAF, LEAF])
    rows = np.array([sum(n), n[0], sum(n[1:]), n[2] + n[3], n[1], n[2], n[3]], dtype=float)
    cut = np.where(kind == THRESHOLD, [29.5, 0, 49.5, 39.5, 0, 0, 0], np.nan)
    return Tree(
        np.array([-1, 0, 0, 2, 2, 3, 3]),
        np.where(kind == LEAF, -1, 0),
        np.zeros(7, dtype=int),
        kind,
        cut,
        np.array([-1, 0, 1, 0, 1, 0, 1]),
        rows[:, None],
        rows,
        ["age"],
        [["<=", ">"]],
        np.array(["<=50K"], dtype=object),
    )


@pytest.mark.parametrize(
    "k, n",
    [
        (11, {"~41.333333333333336": 15, "25": 11, "60": 11}),
        (10, {"~44.5": 10, "25": 11, "60": 11}),
    ],
)
def test_figures_6_three_tests_of_one_number(k, n):
    X = pd.DataFrame({"age": np.r_[np.full(11, 25), np.full(11, 60), 33:38, 40:50]})
    r = KActusAnonymizer(k=k, inducer=ages([11, 11, 5, 10])).anonymize(X)
    assert r.text().age.value_counts().to_dict() == n
    assert len(r.lost) == (0 if k == 11 else 5)


@pytest.mark.parametrize("k, path", [(11, "[29.5, 49.5]"), (10, "[39.5, 49.5]")])
def test_figures_6_as_intervals(k, path):
    X = pd.DataFrame({"age": np.r_[np.full(11, 25), np.full(11, 60), 33:38, 40:50]})
    r = KActusAnonymizer(k=k, inducer=ages([11, 11, 5, 10]), numeric="path").anonymize(X)
    assert path in set(r.text().age)


def test_figures_a_mean_that_tells_one_value():
    X = pd.DataFrame({"gain": [0, 0, 0, 0, 99999, -1902, -1887, -1485, -1977, -1740, -1672]})
    y = pd.Series(["yes"] * 5 + ["no"] * 6, name="rich")
    r = KActusAnonymizer(k=5).anonymize(X, y)
    assert "~19999.8" in set(r.text().gain) and any("dominance" in o for o in r.audit.warnings)
    r = KActusAnonymizer(k=5, numeric="path").anonymize(X, y)
    assert not any("dominance" in o for o in r.audit.warnings)


def test_figures_yellow_or_blue():
    """Section 5.9"""
    X, y = (
        pd.DataFrame({"A1": ["Yellow"] * 6 + ["Blue"] * 7 + ["Red"] * 10}),
        pd.Series(["no"] * 13 + ["yes"] * 10, name="class"),
    )

    def published(**p):
        return KActusAnonymizer(k=10, **p).anonymize(X, y).text().A1.value_counts().to_dict()

    assert published() == {"*": 13, "Red": 10}
    assert published(merge="sets") == {"{Blue, Yellow}": 13, "Red": 10}


# ---------------------------------------------------------------- the 14 customers, k = 3

PERSONS = "k-anonymity, counted in persons"
CUSTOMERS = load_customers()
QIS = ["Gender", "Marital", "Age"]


def publish(**p):
    est = KActusAnonymizer(**dict(k=3, random_state=0) | p).fit(CUSTOMERS[QIS], CUSTOMERS.Bought)
    return est, {
        tuple(sorted(CUSTOMERS.index[b])): tuple(
            map(str, est.release_.data.loc[CUSTOMERS.index[b[0]], QIS])
        )
        for b in est.climb_.batches
    }


def test_customers_tree():
    t = C45Classifier().fit(CUSTOMERS[QIS], CUSTOMERS.Bought).tree_
    assert [int(t.n[i]) for i in np.flatnonzero(t.attribute < 0)] == [2, 3, 4, 2, 3]


@pytest.mark.parametrize("seed", range(8))
def test_customers_batches(seed):
    est, batches = publish(random_state=seed)
    assert batches.pop((3, 4, 5)) == ("Female", "Not Married", "*")
    assert batches.pop((12, 13, 14)) == ("Male", "Married", "~70.0")
    alone, mixed = sorted(batches, key=lambda o: 10 in o)
    assert (
        batches[alone] == ("Male", "Not Married", "*")
        and len(alone) == 3
        and set(alone) < {6, 7, 8, 9}
    )
    assert batches[mixed] == ("Male", "*", "*") and set(mixed) == {10, 11} | (
        {6, 7, 8, 9} - set(alone)
    )
    assert CUSTOMERS.index[est.release_.lost].tolist() == [1, 2]


def test_customers_log():
    est, _ = publish()
    assert est.climb_.log.values.tolist() == [
        [1, (4,), 2, 0, 0, 3, 2],
        [5, (8,), 2, 0, 0, 3, 2],
        [2, (6,), 2, 1, 1, 3, 3],
        [0, (2,), 2, 0, 0, 3, 2],
        [-1, (), 2, 0, 0, 0, 2],
    ]


def test_customers_textbook():
    def first(comply, spare, wanted):
        return [r for b, rows in comply.items() for r in rows[: spare[b]]][:wanted]

    lists = {
        "Female": {"Married": [1, 2], "Not Married": [3, 4, 5]},
        "Male": {"Married": {"<= 65": [10, 11], "> 65": [12, 13, 14]}, "Not Married": [6, 7, 8, 9]},
    }
    batches, rest = _textbook_climb(lists, 3, first)
    assert [rows for _, rows in batches] == [
        [3, 4, 5],
        [12, 13, 14],
        [7, 8, 9],
        [10, 11, 6],
    ] and rest == [1, 2]


@pytest.mark.parametrize("selection, moves", [("first", 6), ("nearest", 8)])
def test_customers_who_moves(selection, moves):
    _, batches = publish(selection=selection)
    assert tuple(sorted((10, 11, moves))) in batches


def test_customers_a_whole_batch_tops_up_the_root():
    est, batches = publish(shortfall="top_up")
    assert sorted(map(len, batches)) == [3, 3, 3, 5] and not len(est.release_.lost)
    assert batches[next(o for o in batches if 1 in o)] == ("*", "*", "*")


def test_customers_a_spare_row_tops_up_the_root():
    X = pd.concat(
        [CUSTOMERS, pd.DataFrame([["Male", "Married", 70, "No"]], [15], CUSTOMERS.columns)]
    )
    est = KActusAnonymizer(k=3, shortfall="top_up", random_state=0).fit(X[QIS], X.Bought)
    assert sorted(map(len, est.climb_.batches)) == [3] * 5 and not len(est.release_.lost)


def two_floors(left, right, other, allow=None):
    """A root with a node and a leaf, and two leaves below the node: rows of the three leaves, which
    are numbered in this order; (climb with k = 3, remainder)
    """
    kind = np.array([MULTIWAY, MULTIWAY, LEAF, LEAF, LEAF])
    rows = np.array([left + right + other, left + right, other, left, right], dtype=float)
    t = Tree(
        np.array([-1, 0, 0, 1, 1]),
        np.array([0, 1, -1, -1, -1]),
        np.zeros(5, dtype=int),
        kind,
        np.full(5, np.nan),
        np.array([-1, 0, 1, 0, 1]),
        rows[:, None],
        rows,
        ["floor", "side"],
        [["upper", "lower"], ["left", "right"]],
        np.array(["no"], dtype=object),
    )
    return climb(t, np.repeat([3, 4, 2], [left, right, other]), 3, allow=allow)


@pytest.mark.parametrize(
    "rows, shortfall, last, batches",
    [
        # spare rows come before whole batches, and no more than are wanted
        (
            (5, 4, 1),
            "top_up",
            [-1, (0,), 1, 3, 2, 3, 0],
            {3: [2, 3, 4], 4: [5, 6, 7, 8], 0: [9, 0, 1]},
        ),
        # exactly enough can be spared
        (
            (4, 4, 1),
            "top_up",
            [-1, (0,), 1, 2, 2, 3, 0],
            {3: [1, 2, 3], 4: [5, 6, 7], 0: [8, 0, 4]},
        ),
        # too few: the smallest batch as a whole
        (
            (4, 3, 1),
            "top_up",
            [-1, (0,), 1, 1, 3, 4, 0],
            {3: [0, 1, 2, 3], 0: [7, 4, 5, 6]},
        ),
        # of two the first
        ((3, 3, 2), "top_up", [-1, (0,), 2, 0, 3, 5, 0], {4: [3, 4, 5], 0: [6, 7, 0, 1, 2]}),
        # nobody is left, so nobody moves
        (
            (5, 4, 0),
            "top_up",
            [-1, (), 0, 3, 0, 0, 0],
            {3: [0, 1, 2, 3, 4], 4: [5, 6, 7, 8]},
        ),
        # the remainder is lost, and extra is told all the same
        (
            (5, 4, 2),
            "lose",
            [-1, (), 2, 3, 0, 0, 2],
            {3: [0, 1, 2, 3, 4], 4: [5, 6, 7, 8]},
        ),
    ],
)
def test_the_last_line_of_the_log_and_who_tops_up(rows, shortfall, last, batches):
    """k = 3, by hand: node, sons, nui, extra, moved, published, left"""
    c, rest = two_floors(*rows)
    done = _settle(c, rest, 3, shortfall, spare_first)
    assert done.log.values.tolist()[-1] == last
    assert dict(zip(done.nodes.tolist(), map(np.ndarray.tolist, done.batches))) == batches
    assert len(done.lost) == last[-1]


def test_rows_that_may_not_be_spared_stay():
    """The first two of five would top up row 5, but row 2 may not be published without row 0"""

    def allow(rows, groups, n):
        with_2, with_0 = (np.isin(np.arange(n), groups[rows == r]) for r in (2, 0))
        return ~with_2 | with_0

    c, rest = two_floors(5, 1, 1)
    assert c.log.values.tolist()[0] == [1, (3,), 1, 2, 2, 3, 3]
    c, rest = two_floors(5, 1, 1, allow)
    assert c.log.values.tolist() == [[1, (3,), 1, 2, 0, 5, 1], [0, (), 2, 0, 0, 0, 2]]
    assert [o.tolist() for o in c.batches] == [[0, 1, 2, 3, 4]] and rest.tolist() == [5, 6]


@pytest.mark.parametrize(
    "least, batches", [(2, {3: 4, 4: 3, 0: 2}), (3, {3: 4, 0: 5}), (6, {0: 9})]
)
def test_a_remainder_that_may_not_be_published_takes_batches(least, batches):
    """Two rows would do for k = 2; `allow` wants more with row 7, which is one of them"""
    c, rest = two_floors(4, 3, 2)
    assert rest.tolist() == [7, 8]

    def allow(rows, groups, n):
        sizes = np.bincount(groups, minlength=n)
        alone = np.isin(np.arange(n), groups[rows == 7])
        return ~alone | (sizes >= least)

    done = _settle(c, rest, 2, "lose", spare_first, allow)
    assert dict(zip(done.nodes.tolist(), map(len, done.batches))) == batches
    assert not len(done.lost)


def test_customers_interval():
    _, batches = publish(numeric="path")
    assert batches[12, 13, 14] == ("Male", "Married", "[65, inf]")


def test_customers_climb_is_that_of_the_table():
    """Rows of `climb_` are numbered as in the table"""
    est, _ = publish()
    c = est.climb_
    assert c.held.tolist() == [0, 0, 0, 2, 3, 0, 4, 2, 3]
    y = (CUSTOMERS.Bought == "Yes").to_numpy().astype(int)
    assert c.after(0, y).counts.tolist() == est.tree_.counts.tolist()
    assert c.after(3, y).n.tolist() == [5, 2, 3]
    assert [sorted(CUSTOMERS.index[o]) for o in c.waiting[:2]] == [[1, 2], [10, 11]]


@pytest.mark.parametrize(
    "most, nodes", [(11, []), (12, [9]), (80, [9]), (81, [9, 6]), (200, [9, 6])]
)
def test_rows_that_may_be_left_out(tree, done, most, nodes):
    """Node 9: 12 wait and 88 join them; node 6: 69 and 31. Nowhere else does anybody move"""
    assert nodes_to_lose(done[0], 100, most) == nodes
    c, rest = climb(tree, rows_of(tree), 100, lose_at=nodes)
    assert len(c.lost) == sum({9: 12, 6: 69}[o] for o in nodes)
    moved = c.log.set_index("node").moved
    assert all(moved[o] == 0 for o in nodes)
    sizes = dict(zip(c.nodes.tolist(), map(len, c.batches)))
    assert sizes[11] == (190 if 9 in nodes else 102) and len(rest) == 16
    assert sum(sizes.values()) + len(c.lost) + len(rest) == 4997


@pytest.mark.parametrize("shortfall", ["lose", "top_up"])
@pytest.mark.parametrize("seed", range(6))
def test_the_limit_is_kept_and_spares_others(seed, shortfall):
    """The same tree; rows left out are within the budget, and fewer rows move"""
    rng = np.random.default_rng(seed)
    odds = [0.6, 0.25, 0.1, 0.05]
    X = pd.DataFrame({f"a{i}": rng.choice(list("abcd"), 300, p=odds) for i in range(3)})
    y = pd.Series(np.where((X.a0 == "a") & (X.a1 < "c") | (rng.random(300) < 0.2), "y", "n"))
    p = dict(k=9, inducer=C45Classifier(prune=False), selection="first", shortfall=shortfall)
    before = KActusAnonymizer(**p).fit(X, y)
    after = KActusAnonymizer(suppression_limit=0.06, **p).fit(X, y)
    assert after.tree_.counts.tolist() == before.tree_.counts.tolist()
    moved, still = before.climb_.log.moved.sum(), after.climb_.log.moved.sum()
    assert (still < moved) == (moved > 0)
    short = 0 if shortfall == "top_up" else 8
    assert len(after.release_.lost) <= 18 + short
    assert len(after.release_.lost) > len(before.release_.lost) or not moved
    assert after.release_.audit.k >= 9
    assert f"{NO_RERUN}; at most 6.0% of the rows left out; " in after.guarantee


# what goes in, and what a climb says of itself
# ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "p, error, says",
    [
        (dict(k=0), ValueError, "'k' must be an integer of at least 1. Got 0"),
        (dict(k=2.5), TypeError, "'k' must be an integer"),
        (dict(k="3"), TypeError, "'k'"),
        (
            dict(rule="Intended"),
            ValueError,
            "'rule' must be one of 'intended', 'literal'. Got 'Intended'",
        ),
        (dict(rule=None), ValueError, "'rule'"),
        (
            dict(stops=[24]),
            ValueError,
            "'stops' must be nodes of the tree, from 0 to 23. Got 24 to 24",
        ),
        (dict(stops=[-1, 3]), ValueError, "Got -1 to 3"),
        (dict(stops=[2.0]), ValueError, "'stops'.*whole numbers.*Got float64"),
        (dict(stops=[[2]]), ValueError, "'stops'.*one dimension"),
        (dict(stops=(o for o in [2])), ValueError, "'stops'.*use a list"),
        (dict(stops=[True]), ValueError, "Got bool"),
        (
            dict(tree=C45Classifier()),
            TypeError,
            "'tree' must be a Tree. Got C45Classifier: use the tree_",
        ),
        (dict(choose="random"), TypeError, "'choose' must be a function.*Got 'random'"),
    ],
)
def test_climb_refuses(tree, p, error, says):
    with pytest.raises(error, match=says):
        climb(**(dict(tree=tree, stops=rows_of(tree), k=100) | p))


@pytest.mark.parametrize(
    "choose",
    [
        lambda sons, spare, wanted, wait: np.concatenate(sons),
        lambda sons, spare, wanted, wait: sons[0][:1],
        lambda sons, spare, wanted, wait: np.repeat(sons[0][:1], wanted),
        lambda sons, spare, wanted, wait: np.arange(wanted),
    ],
    ids=["all", "too few", "one row often", "others' rows"],
)
def test_a_chooser_cannot_break_the_promise(tree, choose):
    with pytest.raises(
        ValueError, match="'choose' must return as many rows as are wanted.*leave k=100 in each"
    ):
        climb(tree, rows_of(tree), 100, choose=choose)


def test_a_chooser_may_return_a_list(tree, done):
    mine, rest = climb(
        tree,
        rows_of(tree),
        np.int64(100),
        choose=lambda sons, spare, wanted, wait: sons[0][:wanted].tolist(),
    )
    assert [len(o) for o in mine.batches] == [
        len(o) for o in done[0].batches
    ] and rest.tolist() == done[1].tolist()


def test_no_rows_no_batches(tree):
    c, rest = climb(tree, [], 5)
    assert not c.batches and not len(rest)


def test_a_climb_is_short_to_print(done):
    assert (
        repr(done[0])
        == "Climb(4997 rows of Tree(24 nodes, 18 leaves, depth 5): 8 batches of 4981 rows, 0 lost)"
    )


@pytest.mark.parametrize(
    "f, error, says",
    [
        (
            lambda c: climb_text(c),
            TypeError,
            r"'c' must be a Climb. Got tuple: climb returns \(Climb, remainder\)",
        ),
        (
            lambda c: climb_text(c[0], "1"),
            TypeError,
            "'steps' must be a whole number between 0 and 6.*Got '1'",
        ),
        (lambda c: climb_text(c[0], 1.0), TypeError, "'steps'"),
        (lambda c: climb_text(c[0], 7), ValueError, "'steps' must be between 0 and 6.*Got 7"),
        (
            lambda c: c[0].after(1, ["a"] * 4997),
            ValueError,
            "'y' must have a code of a class, 0 to 1",
        ),
        (
            lambda c: c[0].after(1, [0]),
            ValueError,
            r"each of the 4997 rows. Got int64 of shape \(1,\)",
        ),
        (lambda c: c[0].after(1, [5] * 4997), ValueError, "'y'"),
    ],
)
def test_the_way_up_refuses(done, f, error, says):
    with pytest.raises(error, match=says):
        f(done)


@pytest.mark.parametrize(
    "p, error, says",
    [
        (
            dict(random_state="a"),
            TypeError,
            "'random_state' must be a whole number of at least 0.*Got 'a': use",
        ),
        (dict(random_state=-1), ValueError, "'random_state'.*Got -1"),
        (
            dict(inducer="c45"),
            TypeError,
            r"'inducer' must be a classifier.*Got 'c45': use for example C45Classifier\(\)",
        ),
        (dict(inducer=C45Classifier), TypeError, r"'inducer' must be an object.*C45Classifier\(\)"),
        (
            dict(inducer=DecisionTreeClassifier()),
            ValueError,
            (
                "'inducer'.*Got DecisionTreeClassifier, which reads numbers only, and words in"
                " Gender, Marital: use C45Classifier"
            ),
        ),
        (dict(inducer=LogisticRegression()), ValueError, "'inducer'.*Got LogisticRegression"),
        (dict(selection="rand"), ValueError, "'selection'"),
    ],
)
def test_anonymizer_refuses(p, error, says):
    with pytest.raises(error, match=says):
        KActusAnonymizer(**(dict(k=3) | p)).fit(CUSTOMERS[QIS], CUSTOMERS.Bought)


@pytest.mark.parametrize(
    "p, says",
    [
        ({}, f"k-anonymity; {NO_RERUN}; fewer than k rows lost"),
        (dict(shortfall="top_up"), f"k-anonymity; {NO_RERUN}; no row lost"),
        (dict(person="who"), f"{PERSONS}; {NO_RERUN}; fewer than k persons lost"),
        (dict(person="who", shortfall="top_up"), f"{PERSONS}; {NO_RERUN}; no row lost"),
    ],
)
def test_the_promise_says_what_is_lost(p, says):
    assert KActusAnonymizer(**p).guarantee == says
    assert KActusAnonymizer().k == 5


@pytest.mark.parametrize(
    "seed",
    [0, None, np.int64(3), np.random.default_rng(0)],
    ids=["int", "None", "numpy", "Generator"],
)
def test_seeds_of_all_kinds(seed):
    assert (
        KActusAnonymizer(k=3, random_state=seed)
        .fit(CUSTOMERS[QIS], CUSTOMERS.Bought)
        .release_.audit.k
        == 3
    )
