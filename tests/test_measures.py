"""Diversity, closeness, losses by groups, populations and what could be whose.

Worked numbers, and plain loops on random tables.
"""

import itertools
import math
import warnings
from collections import Counter
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st

from ppdt._textbook import _textbook_holds, _textbook_t
from ppdt.datasets import load_customers, load_patients, make_population
from ppdt.diversity import Alpha, LDiversity, TCloseness
from ppdt.engine import assignments, sampled_matchings
from ppdt.erp import ERPAnonymizer
from ppdt.generalization import Taxonomy, recode
from ppdt.loss import discernibility
from ppdt.matching import consistent, matched, matching_probabilities, plot_fits
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import alpha_share, audit, distinct_l, entropy_l, recursive_c, t_closeness
from ppdt.release import read_release
from ppdt.tables import Centroid, Exact, Interval, Node, Suppressed, ValueSet, cell_column

CUSTOMERS, PATIENTS = load_customers(), load_patients()
QIS, QIS3 = ["Gender", "Marital", "Age"], ["Age", "Gender", "Postcode"]
TABLE_II = recode(PATIENTS[QIS3], [0, 0, 0, 1, 1, 1])
WOMEN = pd.DataFrame(
    {"Age": [57, 61, 42, 29, 38], "Marital": ["Married"] * 2 + ["Not Married"] * 3}
)
TIERED = pd.DataFrame(
    {
        "Age": [Interval(42, 61)] * 2 + [Interval(29, 61)] + [Interval(29, 42)] * 2,
        "Marital": [ValueSet(["Married", "Not Married"])] * 3 + [Exact("Not Married")] * 2,
    }
)


# ---------- against loops
@st.composite
def secrets(draw):
    """Rows (class, secret): few classes, few values, so that classes lack values"""
    return draw(
        st.lists(
            st.tuples(st.integers(0, 4), st.sampled_from([1.0, 2.0, 3.0, 5.0, 8.0, np.nan])),
            min_size=1,
            max_size=30,
        )
    )


def at_worst(c, gap):
    """Falling counts of a class when all that is missing is the most frequent value"""
    r = sorted((n for v, n in c.items() if v != gap), reverse=True)
    return [r[0] + c[gap], *r[1:]] if r else [c[gap]]


@one_in(2)
@given(secrets(), st.sampled_from([1, 2, 3]))
def test_measures_of_a_secret_equal_loops(rows, l):
    t = pd.DataFrame(rows, columns=["q", "s"])
    a, n = audit(t[["q"]], k=2, sensitive=t.s, y=t.s, l=l), len(t)
    values = sorted(t.s.unique(), key=lambda v: (v != v, v))
    name = t.s.map(lambda v: -1.0 if v != v else v)
    values = [-1.0 if v != v else v for v in values]
    p = [(name == v).mean() for v in values]
    found = []
    for _, g in name.groupby(t.q):
        c = Counter(g)
        f, r = len(g), at_worst(c, -1.0)
        cum = np.cumsum([c[v] / f - q for v, q in zip(values, p)])
        found.append(
            (
                len(r),
                math.exp(-sum(x / f * math.log(x / f) for x in r)),
                r[0] / sum(r[l - 1 :]) if len(r) >= l else math.inf,
                r[0] / f,
                np.abs(cum).sum() / max(len(values) - 1, 1),
                sum(abs(c[v] / f - q) for v, q in zip(values, p)) / 2,
                f,
            )
        )
    d, e, c, al, o, q, f = zip(*found)
    assert (
        a.missing_secrets == t.s.isna().sum()
        and any("secrets are missing" in w for w in a.warnings) == t.s.isna().any()
    )
    assert (a.l_distinct, a.l_entropy, a.c_recursive, a.alpha, a.t) == pytest.approx(
        (min(d), min(e), max(c), max(al), max(o))
    )
    assert audit(t[["q"]], sensitive=t.s, t_distance="equal").t == pytest.approx(max(q))
    assert a.discernibility == sum(x * x for x in f) and a.c_avg == pytest.approx(n / len(f) / 2)
    assert a.cm == pytest.approx(
        1 - sum(max(Counter(g).values()) for _, g in name.groupby(t.q)) / n
    )


@one_in(7)
@given(
    secrets(), st.sampled_from([1, 2, 3]), st.sampled_from([0.2, 0.5, 2 / 3, 1.0]), st.booleans()
)
def test_verdicts_on_constraints_equal_loops(rows, l, bound, hide):
    t = pd.DataFrame(rows, columns=["q", "s"])
    data = pd.DataFrame(
        {
            "q": cell_column(
                [5 if hide and q == 0 else q for q in t.q], [*map(Exact, range(5)), Suppressed()]
            )
        }
    )
    groups = [
        Counter("gap" if v != v else v for v in g)
        for q, g in t.s.groupby(t.q)
        if not (hide and q == 0)
    ]
    whole = Counter("gap" if v != v else v for v in t.s)

    def p(c, v):
        return c[v] / sum(c.values())

    def far(c):
        return sum(abs(p(c, v) - p(whole, v)) for v in whole) / 2

    def entropy(c):
        return math.exp(
            -sum(x / sum(c.values()) * math.log(x / sum(c.values())) for x in at_worst(c, "gap"))
        )

    def recursive(c):
        r = at_worst(c, "gap")
        return r[0] < 3 * bound * sum(r[l - 1 :])

    y = t.s.rename("s")
    verdicts = [
        (LDiversity(l), [len(at_worst(c, "gap")) >= l for c in groups]),
        (LDiversity(l, "entropy"), [entropy(c) >= l - 1e-9 for c in groups]),
        (LDiversity(l, "recursive", 3 * bound), [recursive(c) for c in groups]),
        (TCloseness(bound, "equal"), [far(c) <= bound + 1e-9 for c in groups]),
        (Alpha(bound), [at_worst(c, "gap")[0] <= bound * sum(c.values()) + 1e-9 for c in groups]),
    ]
    if (t.s == 1).any():
        verdicts.append(
            (
                Alpha(bound, 1.0),
                [c[1.0] + c["gap"] <= bound * sum(c.values()) + 1e-9 for c in groups],
            )
        )
    for c, ok in verdicts:
        a = audit(data, y=y, constraints=[c])
        assert a.holds == all(ok) and len([o for o in a.warnings if "does not hold" in o]) == (
            not all(ok)
        )
    assert audit(data, y=y, constraints=[c for c, _ in verdicts]).holds == all(
        all(ok) for _, ok in verdicts
    )


@one_in(3)
@given(secrets())
def test_alpha_of_one_value_equals_a_loop(rows):
    t = pd.DataFrame(rows, columns=["q", "s"])
    for v in t.s.dropna().unique():
        assert audit(t[["q"]], sensitive=t.s, sensitive_value=v).alpha == pytest.approx(
            max((g.isna() | (g == v)).mean() for _, g in t.s.groupby(t.q))
        )


@one_in(5)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 2),
            st.sampled_from(["Ann", "Bob", "Cleo", "Dan"]),
            st.sampled_from(["flu", "hiv", None]),
        ),
        min_size=1,
        max_size=14,
    ),
    st.sampled_from([0.5, 0.7, 1.0]),
)
def test_secrets_of_persons_equal_a_loop(rows, bound):
    """A person's rows of a class are one; an empty secret beside a known one is none"""
    t = pd.DataFrame(rows, columns=["q", "who", "s"])
    of = {}
    for q, who, s in rows:
        of.setdefault((q, who), set()).add(s)
    of = {o: (s - {None}) or {None} for o, s in of.items()}
    a = audit(t[["q"]], person=t.who, sensitive=t.s, k=1)
    asked = [Alpha(bound), LDiversity(2)]
    if any(len(s) > 1 for s in of.values()):
        assert (
            a.alpha is a.l_distinct is a.t is None and "several different secrets" in a.warnings[0]
        )
        with pytest.raises(ValueError, match="cannot be judged with person="):
            audit(t[["q"]], person=t.who, y=t.s, constraints=asked)
        return
    classes = [
        Counter(next(iter(s)) for (p, _), s in of.items() if p == q)
        for q in sorted({q for q, _ in of})
    ]
    r = [at_worst(c, None) for c in classes]
    assert (a.alpha, a.l_distinct, a.missing_secrets) == (
        pytest.approx(max(x[0] / sum(x) for x in r)),
        min(map(len, r)),
        sum(c[None] for c in classes),
    )
    assert audit(t[["q"]], person=t.who, y=t.s, constraints=asked).holds == all(
        x[0] <= bound * sum(x) and len(x) >= 2 for x in r
    )
    assert a.c_avg == pytest.approx(len(of) / len(classes))


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abcd")), min_size=1, max_size=20))
def test_a_tree_of_height_one_is_the_equal_distance(rows):
    t = pd.DataFrame(rows, columns=["q", "s"])
    flat = Taxonomy.from_dict({"*": list("abcd")})
    tree = audit(t[["q"]], sensitive=t.s, t_distance="hierarchical", taxonomies={"s": flat})
    assert (
        tree.t == pytest.approx(audit(t[["q"]], sensitive=t.s, t_distance="equal").t)
        and tree.t_distance == "hierarchical"
    )


@given(
    st.lists(
        st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(any), min_size=1, max_size=6
    ),
    st.sampled_from(["equal", "ordered"]),
)
def test_closeness_equals_the_textbook(c, distance):
    got = t_closeness(c, distance)
    assert got == pytest.approx(_textbook_t(c, distance)) and (got >= 0).all() and (got <= 1).all()
    assert len(c) > 1 or got.tolist() == [0]
    big = np.array(c, dtype=np.int64) * 10**9
    # too large for exact integers: floats
    assert t_closeness(big, distance) == pytest.approx(got)


CELLS = [
    Exact(1),
    Exact(4),
    ValueSet([1, 4]),
    ValueSet([2, 3]),
    ValueSet([1, 2, 4]),
    Interval(1, 3),
    Interval(2, 4, True),
    Suppressed(),
    None,
]
WORDS = [Exact("a"), Exact("c"), ValueSet(["a", "c"]), ValueSet(["b", "zz"]), Suppressed(), None]


def holds(cell, v):
    """Does the cell hold the value? One at a time"""
    if cell is None:
        return v is None
    if isinstance(cell, Suppressed):
        return True
    if v is None:
        return False
    if isinstance(cell, Interval):
        return cell.lo <= v and (v < cell.hi if cell.hi_open else v <= cell.hi)
    return v in cell.values


@st.composite
def pairs(draw, least=1):
    """An original of numbers and words, and a table of cells beside it, mostly true"""
    n = draw(st.integers(least, 6))
    raw = [
        (draw(st.sampled_from([1, 2, 3, 4, None])), draw(st.sampled_from(["a", "b", "c", None])))
        for _ in range(n)
    ]

    def cell(options, v):
        true = [c for c in options if holds(c, v)]
        return draw(st.sampled_from(true if draw(st.integers(0, 9)) else options))

    return raw, [(cell(CELLS, x), cell(WORDS, w)) for x, w in raw]


def frames(raw, out):
    def column(j, options):
        return cell_column([-1 if r[j] is None else options.index(r[j]) for r in out], options[:-1])

    original = pd.DataFrame(
        {
            "x": pd.array([r[0] for r in raw], dtype="Int64"),
            "w": pd.Series([r[1] for r in raw], dtype=object),
        }
    )
    return original, pd.DataFrame({"x": column(0, CELLS), "w": column(1, WORDS)})


@given(pairs())
def test_what_could_be_whose_equals_loops(case):
    raw, out = case
    original, data = frames(raw, out)
    fit, n = np.array([[all(map(holds, s, r)) for s in out] for r in raw]), len(raw)
    matchings = [m for m in permutations(range(n)) if all(fit[i, m[i]] for i in range(n))]
    able = min(len({m[i] for m in matchings}) for i in range(n))
    from ppdt.engine.audit_input import Given, read_audit_table
    from ppdt.engine.audit_people import against_original
    from ppdt.tables import encode

    table = read_audit_table(Given(data), list(data), {})
    for lost in ([], None):
        raw = None if lost is None else [encode(original[o]) for o in original]
        a, notes = against_original(original, raw, True, table)
        assert not notes
        assert a["truthful"] == (None if lost is None else bool(fit.diagonal().all()))
        assert (a["one_k"], a["k_one"], a["k_k"]) == (
            fit.sum(1).min(),
            fit.sum(0).min(),
            min(fit.sum(1).min(), fit.sum(0).min()),
        )
        assert a["global_one_k"] == able


@given(pairs(), st.lists(st.sampled_from(["hiv", "flu", None]), min_size=6, max_size=6))
def test_matchings_of_the_audit_equal_loops(case, secret):
    from ppdt.engine.audit_input import Given, read_audit_table
    from ppdt.engine.audit_people import against_original
    from ppdt.tables import encode

    raw, out = case
    (original, data), n = frames(raw, out), len(raw)
    fit, secret = np.array([[all(map(holds, s, r)) for s in out] for r in raw]), secret[:n]
    listed = [m for m in permutations(range(n)) if all(fit[i, m[i]] for i in range(n))]
    for lost in ([], None):
        for value in (None, "hiv"):
            if value is not None and value not in secret:
                continue
            raw = None if lost is None else [encode(original[o]) for o in original]
            likely = pd.Series(secret, dtype=object), value
            table = read_audit_table(Given(data), list(data), {})
            a, notes = against_original(original, raw, True, table, likely)
            assert not notes
            if not listed:
                assert "matching" not in a and "matching_class" not in a
                continue
            assert a.get("matching") == (
                None
                if lost is None
                else pytest.approx(
                    max(sum(m[i] == i for m in listed) for i in range(n)) / len(listed)
                )
            )
            asked = {s for s in secret if s is not None} or {"nothing known"}
            assert a["matching_class"] == pytest.approx(
                max(
                    sum(secret[m[i]] in (v, None) for m in listed)
                    for i in range(n)
                    for v in (asked if value is None else [value])
                )
                / len(listed)
            )


def test_matchings_of_table_1():
    bought = pd.Series(["Yes"] * 2 + ["No"] * 3)
    a = audit(TIERED, original=WOMEN, lost=[], y=bought, sensitive_value="Yes")
    assert (
        (a.matching, a.matching_class) == (pytest.approx(0.4), pytest.approx(0.8))
        and "own row at most 0.4, one secret at most 0.8" in str(a)
        and "over all matchings" in a._repr_html_()
    )
    assert "right row with a chance of at most 40.0%" in a.explain()
    assert audit(TIERED, original=WOMEN, lost=[], y=bought).matching_class == 1, (
        "two women can only have said no"
    )
    a = audit(TIERED, original=WOMEN, lost=[])
    assert a.matching == pytest.approx(0.4) and a.matching_class is None
    b = audit(TIERED, original=WOMEN.iloc[::-1], consistency=True, y=bought)
    assert b.matching is None and b.matching_class == 1, (
        "whose row it is depends on the order, what rows say does not"
    )
    for kw in ({}, {"consistency": False, "lost": []}, {"lost": [], "person": range(5)}):
        a = audit(TIERED, original=WOMEN, y=bought, **kw)
        assert a.matching is a.matching_class is None and "over all matchings" not in str(a)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40))
def test_matchings_of_uniform_classes_are_the_prosecutors(group):
    X = pd.DataFrame({"a": np.arange(len(group)) % 7 + 10 * np.array(group), "g": group})
    y = pd.Series(np.arange(len(group)) % 3)
    a = audit(recode(X, group, "interval"), original=X, lost=[], y=y)
    assert a.matching == a.risk_max and a.matching_class == pytest.approx(a.alpha)


def _overlapping(n):
    "People on a plane, with ranges around each"
    rng = np.random.default_rng(0)
    X = pd.DataFrame({o: rng.normal(size=n) for o in "ab"})
    cells = {o: [Interval(v - 0.5, v + 0.5) for v in X[o]] for o in X}
    return X, pd.DataFrame({o: cell_column(np.arange(n), held) for o, held in cells.items()})


def test_overlap_without_end_is_sampled_and_said():
    X, data = _overlapping(120)
    a = audit(data, original=X, lost=[], y=pd.Series(range(120)) % 2)
    assert a.global_one_k is not None and 0 < a.matching_estimated <= 120
    assert 1 / 120 < a.matching <= 1 and 0.5 <= a.matching_class <= 1
    assert "is from a sample" in a.warnings[-1]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_an_estimate_of_the_likely_has_bounds_that_hold_what_is_counted(k, monkeypatch):
    t = make_population(150, 1)
    X = t[["age", "hours", "education", "region"]]
    made = ERPAnonymizer(k=k, random_state=0).anonymize(X, t.income)
    counted = audit(made, original=X, lost=[])
    assert counted.matching_likely > 0 and counted.matching_likely_between is None
    monkeypatch.setattr(assignments, "_SUMS", 0)  # nothing is counted
    near = audit(made, original=X, lost=[])
    low, high = near.matching_likely_between
    assert near.matching_estimated and low <= near.matching_likely <= high
    assert low <= counted.matching_likely <= high


def test_tiers_of_more_than_a_thousand_rows_have_an_estimate_of_the_likely():
    t = make_population(2000, 1)
    X = t[["age", "hours", "education", "region", "occupation", "marital_status"]]
    a = ERPAnonymizer(k=5, random_state=0).anonymize(X, t.income).audit
    low, high = a.matching_likely_between
    assert 0 < a.matching_estimated < 2000 and low <= a.matching_likely <= high > 0
    assert f"between {low:.1%} and {high:.1%}: an estimate" in str(a)


def test_too_many_even_to_sample_is_said_and_bounds_nothing(monkeypatch):
    monkeypatch.setattr(sampled_matchings, "_PEOPLE", 100)
    X, data = _overlapping(120)
    a = audit(data, original=X, lost=[], y=pd.Series(range(120)) % 2)
    assert (
        a.global_one_k is not None
        and a.matching is a.matching_class is a.matching_likely is None
        and "overlap in too many ways to count or to sample" in a.warnings[-1]
    )


@one_in(10)
@given(
    st.integers(3, 6).flatmap(
        lambda n: st.lists(st.sets(st.integers(0, n - 1)), min_size=n, max_size=n)
    )
)
def test_a_walk_over_matchings_visits_all_alike(rows):
    n = len(rows)
    fits = np.array([[r in o or r == p for r in range(n)] for p, o in enumerate(rows)])
    possible = matched(fits)
    i, j = np.nonzero(possible)
    one = np.ones(n, dtype=np.int64)
    ways = [p for p in itertools.permutations(range(n)) if fits[range(n), p].all()]
    by_hand = np.mean([[p[a] == b for a, b in zip(i, j)] for p in ways], axis=0)
    walked, error = sampled_matchings.sampled_pairs(i, j, one, one, 12_000)
    # independent looks would have a standard error of at most .011
    np.testing.assert_allclose(walked, by_hand, atol=0.1)
    assert (error[np.isin(by_hand, [0, 1])] == 0).all() and error.max() < 0.1


def test_likelier_than_all_others():
    X = pd.DataFrame({"a": [1, 2, 3, 3]})
    held = [ValueSet([1, 2]), ValueSet([2]), ValueSet([2, 3]), ValueSet([3])]
    data = pd.DataFrame({"a": cell_column(np.arange(4), held)})
    a = audit(data, original=X, lost=[])
    # the first and second have one row each, then, and the others two that are as likely
    assert (a.matching, a.matching_likely, a.matching_estimated) == (1, 0.5, 0)


def test_a_suppressed_row_joins_only_those_who_could_exchange():
    X = pd.DataFrame({"a": [1] * 3 + [2] * 4 + [1]})
    data = pd.DataFrame(
        {"a": cell_column([0] * 3 + [1] * 4 + [2], [Exact(1), Exact(2), Suppressed()])}
    )
    a = audit(data, original=X, lost=[])
    assert a.matching == 0.25 and a.k == 3, (
        "four people of 1 on three rows of 1 and the suppressed one"
    )
    a = audit(data, original=X.assign(a=[1] * 3 + [2] * 4 + [3]), lost=[])
    assert a.matching == 1 == a.global_one_k and a.k == 3, (
        "nobody else can be missing: the suppressed row is hers"
    )


# ---------- bits
def open_share(cell, known):
    """What a cell leaves of a domain, by its definition"""
    known = sorted(known)
    if isinstance(cell, Suppressed):
        return 1
    if isinstance(known[0], str):
        return 1 / len(known) if cell is None else len(cell.values) / len(known)
    if len(known) == 1:
        return 1
    gap, width = min(b - a for a, b in zip(known, known[1:])), known[-1] - known[0]
    if cell is None:
        return gap / width
    lo, hi = (
        (cell.lo, cell.hi) if isinstance(cell, Interval) else (min(cell.values), max(cell.values))
    )
    return min(max(min(hi, known[-1]) - max(lo, known[0]), gap) / width, 1)


@given(pairs(), st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_tidi_equals_its_definition(case, person):
    raw, out = case
    # five who are not published: the whole domain occurs
    raw = raw + [(1, "a"), (4, "b"), (3, "c"), (2, "zz"), (None, None)]
    original, data = frames(raw, out)
    bits = {}
    for r in {r for r in out if not all(isinstance(c, Suppressed) for c in r)}:
        bits[r] = -sum(
            math.log2(open_share(c, {v[j] for v in raw} - {None})) for j, c in enumerate(r)
        )
    size = Counter(out)
    a = audit(data, original=original)
    assert a.tidi == (
        pytest.approx(min(math.log2(size[r]) + b for r, b in bits.items())) if bits else None
    )
    assert audit(data, original=original, lost=range(len(out), len(raw))).tidi == a.tidi
    if bits:
        assert audit(data, original=original, person=person[: len(out)]).tidi == pytest.approx(
            min(
                math.log2(len({w for w, s in zip(person, out) if s == r})) + b
                for r, b in bits.items()
            )
        )


def test_tidi_of_the_smallest_and_the_largest_numbers():
    """Widths of the largest doubles overflow, halves of the smallest vanish"""
    tiny, huge = 5e-324, 1.7e308

    def tidi(values, how=None):
        X = pd.DataFrame({"a": values})
        data = X if how is None else recode(X, [0] * len(X), how)
        return audit(data, original=X).tidi

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for a in ([0, tiny] * 2, [-huge, huge] * 2):
            X = pd.DataFrame({"a": a, "b": [1, 2, 3, 4]})
            found = MondrianAnonymizer(k=2).anonymize(X)
            assert found.audit.tidi == pytest.approx(math.log2(3)), "a group of two, 2/3 of b"
            assert audit(found, original=X).tidi == found.audit.tidi
            assert audit(X, original=X).tidi == pytest.approx(math.log2(3)), "one row, 1/3 of b"
        assert tidi([0, tiny]) == tidi([-huge, huge]) == tidi([3.5, 3.5, 3.75]) == 0
        assert tidi([0, tiny, 2 * tiny]) == tidi([-huge, 0, huge]) == 1
        assert tidi([0, tiny, 2.0**1000]) == pytest.approx(2074), "a share that no double can hold"
        assert tidi([-huge, 0, tiny, huge]) == pytest.approx(1074 + 1 + math.log2(huge))


def test_losses_of_the_smallest_and_the_largest_numbers():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for a in ([0, 5e-324], [-1.7e308, 1.7e308]):
            X = pd.DataFrame({"a": a})
            found = audit(recode(X, [0, 0], "interval"), original=X)
            assert (found.gcp, found.tidi) == (1, 1), "a range that leaves everything open"


def test_tidi_needs_cells_that_say_what_is_possible():
    X = pd.DataFrame({"x": [1, 2, 9, 10], "w": list("abcd")})

    def tidi(x, **kw):
        return audit(pd.DataFrame({"x": x, "w": X.w}), original=X, **kw).tidi

    assert tidi(X.x) == pytest.approx(math.log2(9) + 2)
    assert tidi(cell_column([0, 0, 1, 1], [Centroid(1.5), Centroid(9.5)]), lost=[]) is None
    tree = Taxonomy.from_dict({"*": {"ab": ["a", "b"], "cd": ["c", "d"]}})
    nodes = pd.DataFrame({"w": cell_column([0, 0, 1, 1], [Node("ab"), Node("cd")])})
    assert (
        audit(nodes, original=X).tidi is None
        and audit(nodes, original=X, taxonomies={"w": tree}).tidi == 2
    )
    one = pd.DataFrame({"x": [5] * 4})
    assert audit(one, original=one).tidi == 2, "a column of one value tells nothing"
    assert audit(X[["x"]]).tidi is None and audit(X[["x"]].iloc[:0], original=X).tidi is None
    dates = pd.DataFrame(
        {"d": pd.to_datetime(["2020-01-01", "2020-01-03", "2020-01-04", "2020-01-09"])}
    )
    assert audit(dates, original=dates).tidi == pytest.approx(3), (
        "eight days, the smallest gap is one"
    )
    huge = pd.DataFrame({"x": [-1.7e308, 0, 1.7e308]})
    assert audit(huge, original=huge).tidi == pytest.approx(1)
    assert "TIDI" in str(audit(one, original=one))


def test_a_rare_path_looks_safe():
    raw, all_ = (
        audit(CUSTOMERS[QIS], original=CUSTOMERS),
        audit(recode(CUSTOMERS[QIS], [0] * 14, "interval"), original=CUSTOMERS),
    )
    assert (
        raw.k == 1
        and raw.tidi == pytest.approx(7.858, abs=1e-3)
        and all_.tidi == pytest.approx(math.log2(14))
    )


@given(pairs())
def test_pairs_and_matchings_equal_loops(case):
    raw, out = case
    original, data = frames(raw, out)
    fit, n = np.array([[all(map(holds, s, r)) for s in out] for r in raw]), len(raw)
    assert (consistent(original, data) == fit).all()
    listed = [m for m in permutations(range(n)) if all(fit[i, m[i]] for i in range(n))]
    assert (
        matched(fit) == [[any(m[i] == j for m in listed) for j in range(n)] for i in range(n)]
    ).all()


@given(
    st.integers(0, 6).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_matching_probabilities_equal_all_permutations(fit):
    n = len(fit)
    fit = np.array(fit, dtype=bool).reshape(n, n)
    # matchings are likelier to exist
    fit[range(n), range(n)] |= np.arange(n) % 3 > 0
    listed = [m for m in permutations(range(n)) if all(fit[i, m[i]] for i in range(n))]
    ways, P = matching_probabilities(fit)
    assert ways == len(listed) and P.shape == (n, n)
    if listed:
        assert P == pytest.approx(sum(np.eye(n)[list(m)] for m in listed) / ways, abs=1e-12)
    else:
        assert np.isnan(P).all()


def permanent(M):
    """By the subsets of the columns that the first rows have taken"""
    n, ways = len(M), {0: 1}
    for row in M:
        ways, before = Counter(), ways
        for s, c in before.items():
            for j in np.flatnonzero(row):
                if not s >> int(j) & 1:
                    ways[s | 1 << int(j)] += c
    return ways[(1 << n) - 1]


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3)), min_size=2, max_size=4),
    st.randoms(use_true_random=False),
)
def test_matching_probabilities_of_kinds_and_in_any_order(kinds, random):
    """Groups that lend to their neighbours, as tiers do, shuffled: against subsets, and against the
    same table unshuffled
    """
    group = np.repeat(range(len(kinds)), [n for n, _ in kinds])
    fit = np.array(
        [
            [g == h or abs(g - h) == 1 and (i + kinds[g][1]) % 3 > 0 for h in group]
            for i, g in enumerate(group)
        ]
    )
    n = len(fit)
    ways, P = matching_probabilities(fit)
    assert ways == permanent(fit)
    i, j = random.randrange(n), random.randrange(n)
    assert P[i, j] == pytest.approx(
        fit[i, j] * permanent(np.delete(np.delete(fit, i, 0), j, 1)) / ways, abs=1e-12
    )
    assert P.sum(0) == pytest.approx(np.ones(n)) and P.sum(1) == pytest.approx(np.ones(n))
    rows, people = random.sample(range(n), n), random.sample(range(n), n)
    again, Q = matching_probabilities(fit[people][:, rows])
    assert again == ways and (Q == P[people][:, rows]).all()


def test_matching_probabilities_of_table_1():
    fit = consistent(WOMEN, TIERED)
    ways, P = matching_probabilities(fit)
    assert ways == 20 and P[[0, 0, 1, 1, 3, 3, 4, 4], [0, 1, 0, 1, 3, 4, 3, 4]] == pytest.approx(
        [0.4] * 8
    )
    assert P[2] == pytest.approx([0.2] * 5) and P[:2, :2].sum(1) == pytest.approx([0.8, 0.8])


def test_matching_probabilities_of_large_tables():
    """Uniform classes, whole numbers beyond all floats, a band, and what is too large"""
    classes = np.repeat(range(4), [1, 50, 400, 700])
    ways, P = matching_probabilities(classes[:, None] == classes)
    assert (
        ways == math.prod(map(math.factorial, [1, 50, 400, 700]))
        and (P == (classes[:, None] == classes) / np.array([1, 50, 400, 700])[classes]).all()
    )
    # two classes of 300; one person of each fits all rows
    lent = np.zeros((600, 600), dtype=bool)
    lent[:300, :300] = lent[300:, 300:] = lent[0] = lent[300] = True
    ways, P = matching_probabilities(lent)
    assert (
        ways == math.factorial(300) ** 2 * 2
        and P[0, 0] == P[0, 599] == 1 / 600
        and P[1, 0] == pytest.approx((1 - 1 / 300) / 299)
    ), "the two have one row of each class, or each a row of the own"
    band = abs(np.subtract.outer(range(60), range(60))) <= 3
    assert matching_probabilities(band)[0] == permanent_of_band(60, 3)
    rng = np.random.default_rng(0)
    two = np.zeros((63, 63), dtype=bool)
    two[:60, :60], two[60:, 60:] = rng.random((60, 60)) < 0.5, True
    ways, P = matching_probabilities(two)
    assert (
        ways is None
        and np.isnan(P[:60][matched(two)[:60]]).all()
        and (P[60:, 60:] == 1 / 3).all()
        and not P[60:, :60].any()
    )
    assert matching_probabilities(np.triu(np.ones((400, 400), dtype=bool)))[0] == 1, (
        "one way only, so no component is large"
    )


def test_floats_count_as_well_as_whole_numbers():
    from ppdt.engine.assignments import cheaper_plan, kind_chances, number_type

    rng = np.random.default_rng(1)
    for _ in range(3):
        M, a = (
            abs(np.subtract.outer(range(24), range(24))) <= rng.integers(2, 5, 24)[:, None],
            np.full(24, 2),
        )
        assert [number_type(M, a, a, e) for e in (True, False)] == [object, np.float64]
        (P, n), (Q, one) = (
            kind_chances(M, a, a, cheaper_plan(M, a, a, e), e) for e in (True, False)
        )
        assert (
            one == 1 < n
            and Q == pytest.approx(P, rel=1e-12)
            and (P @ a) == pytest.approx(np.ones(24))
        )


def test_dead_ends_may_overflow_and_do_not_matter():
    """The unknown without an axis may be chosen too often: beyond 60 and beyond 1,000 bits"""
    from ppdt.engine.assignments import count_ways, number_type, plan_order

    for n, w, dtype in ((24, 3, np.int64), (290, 7, object)):
        M, one = abs(np.subtract.outer(range(n), range(n))) <= w, np.ones(n, dtype=int)
        M[:, 0] = True  # everybody fits the first row
        assert (
            one @ np.log2(M.sum(1)) > (60 if dtype == np.int64 else 1000)
            and number_type(M, one, one, False) == dtype
        )
        if n > 100:
            continue
        order, skip, _ = plan_order(M, one, one, np.inf)
        T, N = count_ways(M, one, one, order, skip)
        assert skip == 0 and T == permanent(M) and (N.sum(1) == T).all() and (N.sum(0) == T).all()


def permanent_of_band(n, w):
    """A state is which of the next rows are taken"""
    ways = {0: 1}
    for i in range(n):
        ways, before = Counter(), ways
        for s, c in before.items():
            for d in range(2 * w + 1):
                if 0 <= i + d - w < n and not s >> d & 1 and (s | 1 << d) & 1 | (i < w):
                    ways[(s | 1 << d) >> 1] += c
    return sum(c for s, c in ways.items() if bin(s).count("1") == w)


def test_textbook_holds():
    assert [
        _textbook_holds(c, v)
        for c, v in (
            (None, None),
            (None, 1),
            (Suppressed(), None),
            (Interval(1, 2, True), 2),
            (Interval(1, 2), 2),
            (ValueSet([1, 3]), 3),
            (5, 5),
            (5, None),
        )
    ] == [True, False, True, False, True, True, True, False]


def test_errors_and_edges_of_pairs():
    with pytest.raises(ValueError, match="a centroid claims no value"):
        consistent(pd.DataFrame({"x": [1]}), pd.DataFrame({"x": cell_column([0], [Centroid(1)])}))
    with pytest.raises(ValueError, match="'taxonomies'"):
        consistent(pd.DataFrame({"x": ["a"]}), pd.DataFrame({"x": cell_column([0], [Node("a")])}))
    with pytest.raises(ValueError, match="'original' must have the columns"):
        consistent(CUSTOMERS[["Age"]], CUSTOMERS)
    with pytest.raises(ValueError, match="as many people as rows"):
        matched(np.ones((2, 3)))
    with pytest.raises(ValueError, match="as many people as rows"):
        matching_probabilities(np.ones((2, 3)))
    with pytest.raises(ValueError, match="'original' must have at least one row"):
        consistent(CUSTOMERS.iloc[:0], CUSTOMERS)
    assert consistent(CUSTOMERS, CUSTOMERS.iloc[:0]).shape == (14, 0)
    assert not matched([[1, 0], [1, 0]]).any() and matched(np.zeros((0, 0))).shape == (0, 0)
    assert (
        matching_probabilities(np.zeros((0, 0)))[0] == 1
        and matching_probabilities([[1, 0], [1, 0]])[0] == 0
    )


def test_plot_fits():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots()
    assert plot_fits([[1, 0], [1, 1]], [[1, 0], [0, 1]], ax=ax) is ax and ax.images[
        0
    ].get_array().tolist() == [[2, 0], [1, 2]]
    plt.close(fig)


@given(pairs(), st.integers(1, 3))
def test_population_equals_loops(case, more):
    raw, out = case
    _, data = frames(raw, out)
    people = raw * more + [(2, "b"), (1, None)]
    a = audit(data, population=frames(people, out)[0])
    kinds = Counter(out)
    F = {s: sum(all(map(holds, s, r)) for r in people) for s in kinds}
    if any(F[s] < f for s, f in kinds.items()):
        assert a.delta_max is None and "population" in a.warnings[0]
        return
    share = [f / F[s] for s, f in kinds.items()]
    absent = any(not any(all(map(holds, s, r)) for s in kinds) for r in people)
    assert (a.delta_min, a.delta_max) == pytest.approx((0 if absent else min(share), max(share)))
    open_ = {s: f for s, f in kinds.items() if not all(isinstance(c, Suppressed) for c in s)}
    if open_:
        assert a.risk_journalist == pytest.approx(max(1 / F[s] for s in open_))
        assert a.risk_marketer == pytest.approx(
            sum(f / F[s] for s, f in open_.items()) / sum(open_.values())
        )
    else:
        assert a.risk_journalist is a.risk_marketer is None


@given(st.lists(st.tuples(*[st.sampled_from([0, 1, "*"])] * 3), min_size=1, max_size=15))
def test_wildcards_equal_loops(rows):
    options = [Exact(0), Exact(1), Suppressed()]
    t = pd.DataFrame(
        {
            f"c{j}": cell_column([2 if r[j] == "*" else r[j] for r in rows], options)
            for j in range(3)
        }
    )
    seen = [r for r in rows if r != ("*",) * 3]
    able = [sum(all(x == y or "*" in (x, y) for x, y in zip(r, s)) for s in seen) for r in seen]
    a = audit(t)
    assert a.k_wildcard == (min(able) if able else None) and (not able or a.k_wildcard >= a.k)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_persons_equal_a_loop(rows):
    t = pd.DataFrame(rows, columns=["q", "who"])
    a = audit(t, person="who")
    assert (
        list(a.class_sizes) == sorted(t.groupby("q").who.nunique())
        and a.persons == t.who.nunique()
        and a.n_rows == len(t)
    )


# ---------- what must always be so
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 3), st.sampled_from("abc")),
        min_size=2,
        max_size=20,
    ),
    st.randoms(use_true_random=False),
)
def test_row_order_is_irrelevant_and_merging_never_lowers_k(rows, random):
    t = pd.DataFrame(rows, columns=["x", "g", "s"])
    data = recode(t[["x"]].assign(z=t.g), t.g)
    p = list(range(len(t)))
    random.shuffle(p)
    kw = lambda q: dict(
        k=2,
        sensitive=t.s.iloc[q],
        y=t.s.iloc[q],
        original=t.assign(z=t.g).iloc[q],
        lost=[],
        population=pd.concat([t.assign(z=t.g)] * 2),
    )
    a, b = audit(data, **kw(list(range(len(t))))), audit(data.iloc[p], **kw(p))
    assert a == b and a.truthful and a.one_k >= a.k and a.k_one >= a.k and a.global_one_k >= a.k
    coarse = recode(t[["x"]].assign(z=t.g), t.g // 2)
    c = audit(coarse, **kw(list(range(len(t)))))
    assert (
        c.k >= a.k
        and c.l_distinct >= a.l_distinct
        and c.alpha <= a.alpha
        and c.t <= a.t + 1e-12
        and c.discernibility >= a.discernibility
    )
    assert c.risk_journalist <= a.risk_journalist and c.one_k >= a.one_k and c.k_one >= a.k_one


# ---------- edges
def test_nothing_published():
    a = audit(
        CUSTOMERS.iloc[:0],
        QIS,
        k=3,
        y="Bought",
        original=CUSTOMERS,
        population=CUSTOMERS,
        consistency=True,
    )
    assert (
        a.k
        is a.l_distinct
        is a.t
        is a.cm
        is a.c_avg
        is a.discernibility
        is a.one_k
        is a.delta_max
        is a.k_wildcard
        is None
    )


def test_everything_suppressed():
    data = pd.DataFrame({"x": cell_column([0] * 3, [Suppressed()])})
    a = audit(
        data,
        k=2,
        y=list("aab"),
        original=pd.DataFrame({"x": [1, 2, 3]}),
        lost=[],
        population=pd.DataFrame({"x": range(6)}),
    )
    assert (a.k, a.l_distinct, a.discernibility, a.cm, a.c_avg, a.k_wildcard) == (
        None,
        None,
        9,
        1,
        None,
        None,
    )
    assert (a.truthful, a.one_k, a.global_one_k, a.delta_min, a.delta_max, a.risk_journalist) == (
        True,
        3,
        3,
        0.5,
        0.5,
        None,
    )


def test_one_class_and_one_value():
    a = audit(pd.DataFrame({"q": [1] * 4}), sensitive=[7] * 4)
    assert (a.t, a.alpha, a.l_distinct, a.l_entropy, a.c_recursive, a.t_distance) == (
        0,
        1,
        1,
        1,
        math.inf,
        "ordered",
    ) and "no c for l = 2" in str(a)
    assert audit(pd.DataFrame({"q": [1] * 3}), sensitive=[1, 2, 9]).t == 0


def test_a_release_brings_its_class_its_order_and_its_lost_rows(tmp_path):
    X = CUSTOMERS[QIS].assign(Age=CUSTOMERS.Age.where(CUSTOMERS.index != 9))
    r = MondrianAnonymizer(k=3, missing="drop").anonymize(X, CUSTOMERS.Bought)
    a = audit(r, k=3, original=X)
    assert (a.lost_rows, a.truthful) == (1, True) and min(a.one_k, a.k_one, a.global_one_k) >= 3
    assert a.cm == pytest.approx(audit(r.data, y=r.y, lost_rows=1).cm) and a.l_distinct is not None
    backwards = audit(r, original=X.iloc[::-1])
    assert (backwards.truthful, backwards.true_by) == (True, "row by row"), "labels find the rows"
    r.to_csv(tmp_path / "r.csv")
    back = audit(read_release(tmp_path / "r.csv"), original=X.dropna(), consistency=True)
    assert (back.truthful, back.true_rows, back.true_by) == (True, 13, "matching")
    assert (back.one_k, back.k_one, back.global_one_k) == (
        a.one_k,
        a.k_one,
        a.global_one_k,
    )


def test_untrue_cells_are_found():
    data = recode(CUSTOMERS[QIS], [0] * 7 + [1] * 7)
    assert audit(data, original=CUSTOMERS, lost=[]).truthful is True
    false = audit(data, original=CUSTOMERS.iloc[::-1], lost=[])
    assert false.truthful is False and "NO" in str(false) and false.global_one_k == 7


def test_centroids_claim_nothing_and_nodes_leave_it_open():
    X = pd.DataFrame({"x": [1.0, 3.0], "z": [1, 1]})
    t = pd.DataFrame({"x": cell_column([0, 0], [Centroid(2.0)]), "z": [1, 1]})
    a = audit(t, original=X, lost=[], population=X)
    assert (
        a.truthful is True
        and a.one_k is a.risk_journalist is None
        and [o.split(":")[1] for o in a.warnings] == [" x holds centroids"] * 2
        and a.gcp == 0.5
    )
    assert audit(t[["x"]], original=X, lost=[]).truthful is None
    gap = pd.DataFrame({"x": [np.nan] * 2})
    assert (
        audit(gap, original=gap, lost=[]).truthful is True
        and audit(gap, original=X, lost=[]).truthful is False
    ), "a missing cell claims that there is no value"
    assert audit(t.assign(x=cell_column([0, 0], [Node("n")])), original=X, lost=[]).truthful is None


@pytest.mark.parametrize(
    "kw,word",
    [
        (
            dict(quasi_identifiers=QIS, sensitive="Age"),
            "'sensitive' must not be a quasi-identifier",
        ),
        (dict(y="Zip"), "'y' must be a column"),
        (dict(sensitive=[1, 2]), "one value for each row"),
        (dict(y=CUSTOMERS.Bought.iloc[::-1]), "in the order of the table"),
        (dict(sensitive="Bought", l=0), "'l' must be"),
        (dict(sensitive="Bought", t_distance="far"), "'t_distance'"),
        (
            dict(quasi_identifiers=QIS, population=CUSTOMERS[["Age"]]),
            "'population' must have the columns",
        ),
        (
            dict(quasi_identifiers=QIS, original=CUSTOMERS, lost=[0]),
            "'lost' must hold the positions",
        ),
        (dict(person=[None] * 14), "'person' must tell"),
    ],
)
def test_errors_name_the_parameter(kw, word):
    with pytest.raises(ValueError, match=word):
        audit(CUSTOMERS, **kw)


def test_errors_of_the_counts():
    for f in (distinct_l, entropy_l, recursive_c, alpha_share, t_closeness):
        with pytest.raises(ValueError, match="a class without rows"):
            f([[1, 0], [0, 0]])
        with pytest.raises(ValueError, match="a negative count"):
            f([[1, -1]])
    with pytest.raises(ValueError, match="'sizes'"):
        discernibility([-1])


def test_another_population_gives_a_warning_not_a_risk():
    a = audit(pd.DataFrame({"q": list("aab")}), population=pd.DataFrame({"q": list("ab")}))
    assert a.risk_journalist is a.delta_max is None and "fits fewer people" in a.warnings[0]


def test_too_large_is_said(monkeypatch):
    from ppdt.engine import fits

    def limit(name, n):
        monkeypatch.setattr(fits, name, n)

    limit("MAX_EDGES", 3)
    a = audit(TIERED, original=WOMEN, lost=[])
    assert a.one_k == 3 and a.global_one_k is None and "global (1,k)" in a.warnings[0]
    limit("MAX_PAIRS", 3)
    a = audit(TIERED, original=WOMEN, lost=[], population=WOMEN)
    assert a.one_k is a.risk_journalist is None and a.truthful and len(a.warnings) == 2


def test_the_whole_audit_is_one_screen():
    t = CUSTOMERS[QIS].assign(Age=cell_column([0] * 14, [Suppressed()]))
    a = audit(
        t,
        k=3,
        original=CUSTOMERS,
        y=CUSTOMERS.Bought,
        lost=[],
        population=pd.concat([CUSTOMERS] * 3),
        person=range(14),
    )
    assert len(str(a).splitlines()) <= 22 and max(map(len, str(a).splitlines())) < 130


# ---------- columns beside the quasi-identifiers
def test_columns_that_name_rows_or_give_a_quasi_identifier_away():
    X = pd.DataFrame(
        {
            "edu": list("aabbccdd") * 5,
            "num": [1, 1, 2, 2, 3, 3, 4, 4] * 5,
            "sex": list("fm") * 20,
            "id": range(40),
            "gap": [None, 1.0] * 20,
        }
    )
    data = X.assign(edu=recode(X[["edu"]], X.num // 2).edu)
    a = audit(data, ["edu", "sex"], original=X)
    assert (
        [o.split("'")[1] for o in a.warnings] == ["id", "num"]
        and "gives 'edu' away" in a.warnings[1]
        and "40 values in 40 rows" in a.warnings[0]
    )
    assert [o.split("'")[1] for o in audit(data, ["edu", "sex"]).warnings] == ["id"], (
        "only the original shows the other"
    )
    assert not audit(X.drop(columns="id"), ["edu", "sex"], original=X).warnings, (
        "published as it is: nothing to give away"
    )
    assert not audit(data, ["edu", "sex"], original=X, sensitive="num", person="id").warnings
    assert (
        audit(data.assign(odd=[[1]] * 40).drop(columns=["id", "num"]), ["edu", "sex"], original=X).k
        == 5
    ), "values without hash"
    assert (
        MondrianAnonymizer(k=5, published=["num", "gap"])
        .anonymize(X.drop(columns="id"), None)
        .audit.holds
    )
