"""TDS and TDR: the examples, the fast search against the textbook, what holds for any table, new
rows, and what is refused.
"""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, strategies as st
from random_tables import pick, row_cells

from ppdt._textbook import _textbook_smallest, _textbook_specialize, _textbook_tds_candidates
from ppdt.datasets import load_customers, make_population
from ppdt.diversity import LDiversity
from ppdt.engine.promises import NO_RERUN
from ppdt.engine.specialization import Masking, specialize
from ppdt.generalization import Taxonomy
from ppdt.growing import information_gain
from ppdt.release import GuaranteeError, read_release
from ppdt.tables import Exact, Interval, Node, Suppressed, column_text
from ppdt.tds import TDRAnonymizer, TDSAnonymizer, plot_cut

# ---------- the 34 people
EDUCATION = Taxonomy.from_dict(
    {
        "ANY": {
            "Secondary": {"Junior": ["9th", "10th"], "Senior": ["11th", "12th"]},
            "University": {"Bachelors": None, "Grad": ["Masters", "Doctorate"]},
        }
    }
)
SEX = Taxonomy.from_dict({"ANY": ["M", "F"]})
TREES = {"Education": EDUCATION, "Sex": SEX}
KINDS = [
    ("9th", "M", 30, 0, 3),
    ("10th", "M", 32, 0, 4),
    ("11th", "M", 35, 2, 3),
    ("12th", "F", 37, 3, 1),
    ("Bachelors", "F", 42, 4, 2),
    ("Bachelors", "F", 44, 4, 0),
    ("Masters", "M", 44, 4, 0),
    ("Masters", "F", 44, 3, 0),
    ("Doctorate", "F", 44, 1, 0),
]
PEOPLE = pd.DataFrame(
    [o[:3] for o in KINDS for _ in range(o[3] + o[4])], columns=["Education", "Sex", "Hours"]
)
Y = pd.Series([c for o in KINDS for c in ["Yes"] * o[3] + ["No"] * o[4]], name="Class")


def tds(k=4, **p):
    return TDSAnonymizer(**dict(k=k, taxonomies=TREES) | p)


@pytest.mark.parametrize("threshold", ["literal", "valid"])
def test_34_people(threshold):
    m = tds(threshold=threshold, bounds={"Hours": (1, 99)}).fit(PEOPLE, Y)
    t = m.trace_
    assert t.value.tolist() == [
        "[1, 99)",
        "[37, 99)",
        "[1, 37)",
        "<ANY>",
        "<Secondary>",
        "<ANY>",
        "<University>",
        "<Senior>",
        "[37, 44)",
    ]
    np.testing.assert_allclose(
        t.gain, [0.3584, 0.1740, 0.2455, 0.2716, 0.3386, 0.1664, 0.1022, 0.0911, 0.0058], atol=5e-5
    )
    np.testing.assert_allclose(
        t.score, [0.0156, 0.0580, 0.0409, 0.1358, 0.3386, 0.1664, 0.1022, 0.0911, 0.0058], atol=5e-5
    )
    assert t.loss.tolist() == [22, 2, 5, 1, 0, 0, 0, 0, 0] and t.smallest.tolist() == [
        12,
        10,
        5,
        4,
        4,
        4,
        4,
        4,
        4,
    ]
    assert m.release_.audit.class_sizes == (4, 4, 4, 4, 5, 6, 7) and m.release_.audit.holds


def test_two_groups():
    m = tds(groups=[(["Education", "Sex"], 4), (["Sex", "Hours"], 11)]).fit(PEOPLE, Y)
    assert m.trace_.attribute.tolist() == [
        "Hours",
        "Education",
        "Education",
        "Education",
        "Education",
    ]
    assert m.trace_.value.tolist() == [
        "[-inf, inf)",
        "<ANY>",
        "<Secondary>",
        "<University>",
        "<Senior>",
    ]
    assert m.cut_["Sex"] == [Node("ANY")] and m.trace_[["smallest 1", "smallest 2"]].iloc[
        -1
    ].tolist() == [4, 12]
    assert (
        m.release_.audit.promise
        == "k-anonymity with k = 4 for Education, Sex and k = 11 for Sex, Hours"
        and m.release_.audit.holds
    )
    assert m.guarantee == f"k-anonymity in each group of quasi-identifiers; {NO_RERUN}"
    for columns, k in m.groups:
        assert m.release_.text().groupby(columns).size().min() >= k


def test_groups_are_audited_one_by_one():
    class Liar(TDSAnonymizer):
        def _promised(self, roles, n):
            return [(["Sex", "Hours"], 30)]

    with pytest.raises(GuaranteeError, match="promised k-anonymity with k = 30 for Sex, Hours"):
        Liar(taxonomies=TREES, groups=[(["Education", "Sex"], 4), (["Sex", "Hours"], 11)]).fit(
            PEOPLE, Y
        )


def test_average():
    """Over all groups a column of one group costs half"""
    groups = [(["Education", "Sex"], 4), (["Sex", "Hours"], 11)]
    one, all_ = (tds(groups=groups, average=o).fit(PEOPLE, Y).trace_ for o in ("containing", "all"))
    assert all_.loss.iloc[0] in (one.loss.iloc[0] / 2, 9.0)


def test_first_disclosure():
    by = {
        o: TDRAnonymizer(k=4, disclose=o).fit(PEOPLE[["Education"]], Y).trace_
        for o in ("gain", "score")
    }
    assert (
        by["gain"]["into"].tolist() == ["10th, *"] and by["score"]["into"].iloc[0] == "Masters, *"
    )
    np.testing.assert_allclose(
        [t.score.iloc[0] for t in by.values()], [0.005873461, 0.005941257], atol=1e-9
    )
    np.testing.assert_allclose(
        [t.gain.iloc[0] for t in by.values()], [0.182077277, 0.166355208], atol=1e-9
    )


def test_all_disclosures():
    codes = [(EDUCATION.values.index(e),) for e in PEOPLE.Education]
    found = {
        EDUCATION.values[o["into"][0]]: o
        for o in _textbook_tds_candidates(
            codes,
            (Y == "Yes").astype(int).tolist(),
            [Masking("suppression", 7)],
            [[(None, list(range(7)))]],
            [([0], 4)],
            disclose="score",
        )
    }
    expected = {
        "10th": (0.182077277, 30, True),
        "11th": (0.024207537, 29, True),
        "12th": (0.007521296, 30, True),
        "9th": (0.132565165, 31, False),
        "Bachelors": (0.045012869, 24, True),
        "Doctorate": (0.020841961, 33, False),
        "Masters": (0.166355208, 27, True),
    }
    for o, (gain, loss, valid) in expected.items():
        assert (
            abs(found[o]["gain"] - gain) < 1e-8
            and found[o]["loss"] == loss
            and found[o]["valid"] == valid
        )


# ---------- fast and textbook, and what holds for any table
SHAPES = [
    EDUCATION,
    SEX,
    Taxonomy.from_dict({"r": {"a": {"a1": ["x", "y"], "a2": {"a3": ["z"]}}, "b": ["w"]}}),
    Taxonomy.from_dict({"r": {"q": {"q1": ["x", "y", "z"]}}}),
    Taxonomy.from_dict({"only": None}),
]


@st.composite
def searches(draw):
    """Maskings, columns of codes, classes, groups, and options"""
    n, maskings, columns = draw(st.integers(1, 25)), [], []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(pick("taxonomy", "interval", "suppression"))
        t = draw(st.sampled_from(SHAPES)) if kind == "taxonomy" else None
        size = len(t.leaf) + draw(st.integers(0, 1)) if t else 6
        some = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=size, unique=True))
        c = np.array(draw(st.lists(st.sampled_from(some), min_size=n, max_size=n)))
        if t is None:
            c = np.unique(c, return_inverse=True)[1].ravel()
        maskings.append(
            Masking(
                kind,
                size if t else int(c.max()) + 1,
                t,
                draw(pick("pass", "stop")) if t else "pass",
            )
        )
        columns.append(c)
    every, ks = list(range(len(columns))), st.integers(1, min(4, n))
    groups = [(every, draw(ks))]
    if draw(st.booleans()):
        parts = [draw(st.lists(st.sampled_from(every), min_size=1, unique=True)) for _ in range(2)]
        rest = [j for j in every if not any(j in o for o in parts)]
        groups = [(o, draw(ks)) for o in parts + ([rest] if rest else [])]
    options = dict(
        score=draw(pick("plus_one", "ratio")),
        threshold=draw(pick("literal", "valid")),
        disclose=draw(pick("gain", "score")),
        average=draw(pick("containing", "all")),
    )
    return (
        maskings,
        columns,
        np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))),
        groups,
        options,
    )


def steps(found):
    return [(s["column"], s["value"], s["into"], round(s["gain"], 9), s["loss"]) for s in found]


@given(searches())
def test_fast_is_the_textbook(task):
    maskings, columns, y, groups, options = task
    fast, (cut, slow) = (
        specialize(maskings, columns, y, groups, **options),
        _textbook_specialize(list(zip(*columns)), y.tolist(), maskings, groups, **options),
    )
    assert steps(fast.steps) == steps(slow)
    for j, m in enumerate(maskings):
        at = {c: str(v) for v, codes in cut[j] for c in codes}
        assert [str(fast.labels[j][i]) for i in fast.values[j]] == [
            at[c] for c in range(m.size)
        ] and len(fast.labels[j]) == len(cut[j])


@given(searches())
def test_every_step_holds_k_and_nothing_valid_and_beneficial_is_left(task):
    maskings, columns, y, groups, options = task
    table, now, cut = (
        list(zip(*columns)),
        [len(y)] * len(groups),
        [[(m.root, list(range(m.size)))] for m in maskings],
    )
    found = specialize(maskings, columns, y, groups, **options)
    for s in found.steps:
        ways = [
            o
            for o in _textbook_tds_candidates(table, y.tolist(), maskings, cut, groups, **options)
            if (o["column"], o["value"], o["into"]) == (s["column"], s["value"], s["into"])
        ]
        assert len(ways) == 1 and ways[0]["valid"] and ways[0]["gain"] > 0
        cut = ways[0]["cut"]
        assert s["smallest"] == [_textbook_smallest(table, cut, c) for c, _ in groups]
        assert all(k <= a <= b for a, b, (_, k) in zip(s["smallest"], now, groups))
        now = s["smallest"]
    assert not [
        o
        for o in _textbook_tds_candidates(table, y.tolist(), maskings, cut, groups, **options)
        if o["valid"] and o["gain"] > 0
    ]
    for j, m in enumerate(maskings):
        # each code once
        assert sorted(c for _, codes in cut[j] for c in codes) == list(range(m.size))
        if m.kind == "taxonomy" and m.size == len(m.taxonomy.leaf):
            m.taxonomy.check_cut([m.taxonomy.name[v] for v in found.labels[j]])


@given(searches(), st.integers(0, 9))
def test_the_order_of_rows_and_how_often_each_is_there_do_not_matter(task, seed):
    maskings, columns, y, groups, options = task
    order = np.random.default_rng(seed).permutation(len(y))
    a, b = (
        specialize(maskings, columns, y, groups, **options),
        specialize(maskings, [c[order] for c in columns], y[order], groups, **options),
    )
    assert a.steps == b.steps and a.labels == b.labels
    twice = specialize(
        maskings,
        [np.tile(c, 4) for c in columns],
        np.tile(y, 4),
        [(c, 4 * k) for c, k in groups],
        score="ratio",
        **{o: v for o, v in options.items() if o != "score"},
    )
    # rows that are counted together: weights
    assert all(min(s["smallest"]) % 4 == 0 for s in twice.steps)


@given(searches())
def test_classes_may_be_asked_for_more(task):
    maskings, columns, y, groups, options = task
    assume(len(set(y)) > 1)

    def allow(rows, g, n):
        return np.array([len(set(y[rows[g == i]])) > 1 for i in range(n)])

    found = specialize(
        maskings,
        columns,
        y,
        groups[:1] if len(groups) == 1 else [(list(range(len(columns))), 1)],
        allow=allow,
        **options,
    )
    kept = pd.DataFrame({j: v[c] for j, (v, c) in enumerate(zip(found.values, columns))}).assign(
        y=y
    )
    assert kept.groupby(list(range(len(columns)))).y.nunique().min() > 1


# ---------- the anonymizers
@st.composite
def tables(draw):
    """A small table of a number, a category and a date, its class, and options"""
    n = draw(st.integers(4, 25))

    def some(*values):
        return draw(st.lists(pick(*values), min_size=n, max_size=n))

    X = pd.DataFrame(
        {
            "Hours": some(30, 32, 35, 37, 44, 60),
            "Education": some(*EDUCATION.values),
            "Born": pd.to_datetime(some("1999-12-31", "2001-05-05", "2010-01-01")),
        }
    )
    y = pd.Series(some("Yes", "No"), name="Class")
    return (
        X,
        y,
        dict(
            k=draw(st.integers(2, 4)),
            threshold=draw(pick("literal", "valid")),
            score_form=draw(pick("plus_one", "ratio")),
        ),
    )


@given(tables(), st.booleans(), st.integers(0, 9))
def test_recoding_is_global(table, suppress, seed):
    """Equal values get equal cells, new rows as old ones, whatever the order of the rows"""
    X, y, p = table

    def make():
        trees = {o: t for o, t in TREES.items() if o in X}
        return TDRAnonymizer(**p) if suppress else tds(**p, taxonomies=trees)

    m, order = make().fit(X, y), np.random.default_rng(seed).permutation(len(X))
    for o in X:
        pairs = set(zip(X[o].tolist(), row_cells(m.release_.data[o])))
        assert len(pairs) == X[o].nunique() and {c for _, c in pairs} <= set(m.cut_[o])
    assert all((column_text(m.transform(X)[o]) == column_text(m.release_.data[o])).all() for o in X)
    other = make().fit(X.iloc[order], y.iloc[order])
    assert (
        other.release_.text().equals(m.release_.text())
        and other.trace_.equals(m.trace_)
        and other.cut_ == m.cut_
    )
    alone = pd.concat([make().fit(X, y).transform(X.iloc[[i]]) for i in range(3)])
    assert all((column_text(alone[o]) == column_text(m.release_.data[o])[:3]).all() for o in X)


@given(tables())
def test_every_intermediate_table_holds_k(table):
    X, y, p = table
    m = TDRAnonymizer(**p, taxonomies={"Education": EDUCATION}).fit(X, y)

    def holds(c, v):
        if isinstance(c, Interval):
            return c.lo <= v and (v < c.hi if c.hi_open else v <= c.hi)
        return v in (EDUCATION.leaves(c.name) if isinstance(c, Node) else c.values)

    for s in range(len(m.trace_) + 1):
        cut = m.cut_after(s)
        places = pd.DataFrame(
            {o: [[i for i, c in enumerate(cut[o]) if holds(c, v)] for v in X[o]] for o in X}
        )
        assert places.map(len).eq(1).all(axis=None)
        least = places.map(lambda o: o[0]).value_counts().min()
        assert least >= p["k"] and (s == 0 or least == m.trace_.smallest.iloc[s - 1])
    assert cut == m.cut_


def test_gains_can_be_computed_from_the_release():
    m = tds().fit(PEOPLE, Y)
    low, yes = (
        np.array([c.hi <= 37 for c in m.release_.data.Hours]),
        (m.release_.y == "Yes").to_numpy(),
    )
    assert (
        abs(
            information_gain([[(o & yes).sum(), (o & ~yes).sum()] for o in (low, ~low)])
            - m.trace_.gain.iloc[0]
        )
        < 1e-9
    )


# ---------- new rows
def test_new_rows():
    X = pd.DataFrame(
        {"Education": ["9th", "Masters", "PhD"], "Sex": ["F", "M", "X"], "Hours": [-1e9, 60, 1e9]}
    )
    for m in (tds().fit(PEOPLE, Y), pickle.loads(pickle.dumps(tds().fit(PEOPLE, Y)))):
        t = m.transform(X)
        assert t.Hours.tolist() == [
            Interval(-np.inf, 35, True),
            Interval(44, np.inf, True),
            Interval(44, np.inf, True),
        ]
        assert t.Education.tolist() == [
            Node("Junior"),
            Node("Grad"),
            Suppressed(),
        ] and t.Sex.tolist() == [Exact("F"), Exact("M"), Suppressed()]
    bounded = tds(bounds={"Hours": (1, 99)}).fit(PEOPLE, Y).transform(X.assign(Hours=[0, 1, 99]))
    assert bounded.Hours.tolist() == [Suppressed(), Interval(1, 35, True), Suppressed()]
    with pytest.raises(ValueError, match="must have no missing values"):
        tds().fit(PEOPLE, Y).transform(X.assign(Sex=[None, "M", "F"]))


def test_a_node_without_rows_is_told_to_nobody():
    jobs = Taxonomy.from_dict({"*": {"Worked": ["Private", "State"], "Never": None}})
    X, y = pd.DataFrame({"job": ["Private"] * 5 + ["State"] * 5}), [0] * 5 + [1] * 5
    for how, n in (("pass", 3), ("stop", 1)):
        m = TDSAnonymizer(k=5, taxonomies={"job": jobs}, only_child=how).fit(X, y)
        assert len(m.cut_["job"]) == n
    m = TDSAnonymizer(k=5, taxonomies={"job": jobs}).fit(X, y)
    assert m.transform(pd.DataFrame({"job": ["Never", "State", "Other"]})).job.tolist() == [
        Suppressed(),
        Exact("State"),
        Suppressed(),
    ]


def test_dates_end_with_the_first_and_the_last():
    d = pd.to_datetime(["2020-01-01"] * 3 + ["2021-01-01"] * 3 + ["2022-01-01"])
    m = TDRAnonymizer(k=3).fit(pd.DataFrame({"d": d}), list("aaabbbb"))
    first, cut, last = map(pd.Timestamp, ("2020-01-01", "2021-01-01", "2022-01-01"))
    assert m.cut_["d"] == [Interval(first, cut, True), Interval(cut, last)]
    new = m.transform(
        pd.DataFrame(
            {"d": pd.to_datetime(["2019-12-31", "2020-06-01", "2022-01-01", "2022-01-02"])}
        )
    ).d
    assert new.tolist() == [Suppressed(), m.cut_["d"][0], m.cut_["d"][1], Suppressed()]


def test_missing_values():
    X = PEOPLE.assign(
        Sex=PEOPLE.Sex.where(PEOPLE.index > 3),
        Hours=PEOPLE.Hours.astype(float).where(PEOPLE.index > 1),
    )
    m = tds(missing="category").fit(X, Y)
    assert m.release_.audit.holds and m.release_.audit.truthful is not False
    assert not any(
        isinstance(c, (Node, Interval))
        for c in [row_cells(m.release_.data[o])[0] for o in ("Sex", "Hours")]
    )
    t = m.transform(X)
    assert all((column_text(t[o]) == column_text(m.release_.data[o])).all() for o in X)
    assert len(tds(missing="drop").anonymize(X, Y).lost) == 4
    no_gaps = tds(missing="category").fit(PEOPLE, Y).transform(X)
    assert (
        row_cells(no_gaps.Hours)[0] == Suppressed()
        and row_cells(no_gaps.Sex)[0] == Suppressed()
        and row_cells(no_gaps.Hours)[5] != Suppressed()
    )


def test_files(tmp_path):
    r = tds(bounds={"Hours": (1, 99)}).anonymize(PEOPLE, Y)
    r.to_csv(tmp_path / "out.csv")
    back = read_release(tmp_path / "out.csv")
    assert back.text().equals(r.text()) and back.taxonomies["Education"] == EDUCATION


# ---------- more than k
def test_constraints():
    m = tds(constraints=[LDiversity(2)]).fit(PEOPLE, Y)
    assert m.release_.audit.l_distinct == 2 and m.release_.audit.holds and len(m.trace_) == 2


def test_run_backwards():
    """Four ages, one Yes, k = 2: of four ways two make the release"""
    ages = pd.DataFrame({"age": [1, 2, 3, 4]})
    n = [TDSAnonymizer(k=2).anonymize(ages, np.arange(4) == i).audit.n_classes for i in range(4)]
    assert n == [1, 2, 2, 1]


# ---------- what is refused
@pytest.mark.parametrize(
    "p, X, message",
    [
        (
            dict(taxonomies={"Sex": SEX}),
            PEOPLE,
            (
                "'taxonomies' must have a Taxonomy for each categorical quasi-identifier. Got none"
                " for 'Education': give one .*, or use TDRAnonymizer"
            ),
        ),
        (
            {},
            PEOPLE.replace("Masters", "PhD"),
            (
                "The taxonomy of column 'Education' must have every value as a leaf. Got none for"
                " 'PhD'"
            ),
        ),
        (dict(k=35), PEOPLE, "'k' must not exceed the number of rows. Got k=35 for 34 rows"),
        (
            dict(groups=[(["Education", "Sex", "Hours"], 35)]),
            PEOPLE,
            "the most general table is one class of 34 rows",
        ),
        (
            dict(groups=[(["Education", "Sex"], 3)]),
            PEOPLE,
            "'groups' must hold every quasi-identifier. Got none with 'Hours'",
        ),
        (
            dict(groups=[(["Education", "Age"], 3)]),
            PEOPLE,
            "'groups' must name quasi-identifiers, each once in a group. Got 'Age'",
        ),
        (
            dict(groups=[(["Education", "Sex", "Hours"], 3)], constraints=[LDiversity(2)]),
            PEOPLE,
            "'constraints' must be empty with 'groups'",
        ),
        (
            dict(score_form="plus"),
            PEOPLE,
            "'score_form' must be one of 'plus_one', 'ratio'. Got 'plus'",
        ),
        (dict(threshold="best"), PEOPLE, "'threshold' must be one of"),
        (dict(average=None), PEOPLE, "'average' must be one of"),
        (dict(only_child=1), PEOPLE, "'only_child' must be one of"),
        (dict(taxonomies=EDUCATION), PEOPLE, "'taxonomies' must be a dict"),
        (dict(taxonomies={"Sex": ["M", "F"]}), PEOPLE, "'taxonomies' must be a dict of a Taxonomy"),
        (dict(bounds={"Hours": (30, 44)}), PEOPLE, "'bounds' must hold all values"),
        (dict(bounds={"Sex": (1, 2)}), PEOPLE, "'bounds' must be given for numbers and dates"),
    ],
)
def test_errors(p, X, message):
    with pytest.raises(ValueError, match=message):
        tds(**p).fit(X, Y)


@pytest.mark.parametrize(
    "p, message",
    [
        (dict(groups="Sex"), "'groups' must be a list of pairs"),
        (dict(groups=[(["Sex"], 2.5)]), "'k' must be an integer"),
        (dict(bounds=[1, 2]), "'bounds' must be a dict of pairs"),
    ],
)
def test_wrong_types(p, message):
    with pytest.raises(TypeError, match=message):
        tds(**p).fit(PEOPLE, Y)


def test_more_errors():
    with pytest.raises(ValueError, match="'y' must be given.*MondrianAnonymizer"):
        tds().fit(PEOPLE)
    with pytest.raises(ValueError, match="'disclose' must be one of"):
        TDRAnonymizer(disclose="best").fit(PEOPLE, Y)
    with pytest.warns(UserWarning, match="has 34 different numbers"):
        tds().fit(PEOPLE, np.arange(34.0))
    m = tds().fit(PEOPLE, Y)
    for s in (-1, 10, 1.0, True):
        with pytest.raises(ValueError, match="'steps' must be a whole number from 0 to 9"):
            m.cut_after(s)
    with pytest.raises(ValueError, match="without one"):
        pickle.loads(pickle.dumps(m)).cut_after(0)
    with pytest.raises(
        ValueError, match="'column' must be a quasi-identifier with a taxonomy. Got 'Hours'"
    ):
        plot_cut(m, "Hours")


def test_plot_cut():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    m = tds().fit(PEOPLE, Y)
    assert plot_cut(m, "Education", 5) is not plot_cut(m, "Education")
    plt.close("all")


# ---------- no chance, and no limits that we know of
def test_a_large_table():
    """As fast as it is told, and the same from rows that are counted together"""
    t = make_population(20_000, random_state=0)
    X, y = t[["age", "education", "region", "hours"]], t["income"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m = TDRAnonymizer(k=50).fit(X, y)
    assert (
        m.release_.audit.k >= 50
        and len(m.trace_) > 5
        and (m.trace_.smallest.diff().dropna() <= 0).all()
    )


def test_customers():
    c = load_customers()
    assert TDRAnonymizer(k=3).anonymize(
        c[["Gender", "Marital", "Age"]], c.Bought
    ).audit.class_sizes == (4, 5, 5)
    whole = TDRAnonymizer(k=1).anonymize(c[["Gender", "Marital", "Age"]], c.Bought)
    assert whole.data.equals(c[["Gender", "Marital", "Age"]])


def test_misspelt_columns_and_odd_bounds():
    X, y = pd.DataFrame({"age": [1, 2, 3, 4], "job": list("aabb")}), pd.Series(list("pqpq"))
    for given_, error, says in (
        (dict(bounds={"Age": (0, 9)}), ValueError, "'bounds' must name columns"),
        (dict(bounds={"age": ("0", "9")}), TypeError, "two numbers"),
        (dict(bounds={"age": (0, None)}), TypeError, "two numbers"),
        (dict(bounds={"age": (9, 0)}), ValueError, "exchange them"),
    ):
        with pytest.raises(error, match=says):
            TDRAnonymizer(k=2, **given_).fit(X, y)
