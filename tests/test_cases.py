"""Small inputs on which anonymizers and learners have gone wrong elsewhere, each with the right
value.

Most are rewritten from public bug reports, which are named; the others were found by trying small
inputs. The first line of each test says what kind of fault it is.
"""

import numpy as np
import pandas as pd
import pytest

from ppdt.diversity import Alpha, LDiversity, TCloseness
from ppdt.generalization import Taxonomy, centroid_recoding
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit, class_sizes
from ppdt.release import AnonymizedClassifier, GuessedFormWarning, read_release
from ppdt.tables import (
    MISSING,
    Centroid,
    Exact,
    Interval,
    Suppressed,
    ValueSet,
    cell_column,
    cells,
    encode,
    parse_column,
    write_text,
)

N = np.nan


def sizes(r):
    return list(r.audit.class_sizes)


# ---------- suppression
def test_a_mark_of_suppression_makes_a_class_of_its_own():
    """A class of one behind a mark that is taken for any value (sdcTools/sdcMicro#225): both
    readings are measured, the strict one is promised.
    """
    X = pd.DataFrame(
        {
            "region": ["A"] * 5,
            "status": ["Single", "Married", "Married", "Single", "Widow"],
            "age": ["30-49"] * 5,
        }
    )
    found = audit(
        X.assign(
            status=cell_column([0, 1, 1, 0, 2], [Exact("Single"), Exact("Married"), Suppressed()])
        ),
        k=2,
    )
    assert (
        found.k,
        found.k_wildcard,
        found.holds,
        found.suppressed_rows,
        found.suppressed_cells,
    ) == (1, 3, False, 0, 1)
    assert "marks as wildcards" in str(found)
    r = MondrianAnonymizer(k=2).anonymize(X)
    assert r.audit.k >= 2 and r.audit.k_wildcard >= 2


def test_no_class_smaller_than_k_when_a_mark_is_one_value():
    """A class of two where three were promised (sdcTools/sdcMicro#225)."""
    X = pd.DataFrame(
        {
            "age": ["[60,80["] * 4 + ["[20,50["] * 5,
            "sex": list("MMFFMMMMM"),
            "state": ["CAL"] * 4 + ["MS"] * 2 + ["CAL"] * 3,
        }
    )
    for recoding in ("set", "interval"):
        assert min(sizes(MondrianAnonymizer(k=3, recoding=recoding).anonymize(X))) >= 3


def test_a_suppressed_row_before_saving_and_after_reading(tmp_path):
    """Other numbers after saving: the suppressed row became a class (arx-deidentifier/arx#259)."""
    texts = pd.DataFrame(
        {
            "age": ["1", "1", "[2, 3]", "[2, 3]", "4", "4", "*"],
            "zip": ["816", "816", "{1, 2}", "{1, 2}", "7", "7", "*"],
        }
    )
    t = pd.DataFrame({"age": parse_column(texts.age, "int64"), "zip": parse_column(texts.zip)})
    write_text(texts, tmp_path / "t.csv")
    back = read_release(tmp_path / "t.csv", kinds={"age": "numeric", "zip": "categorical"})
    for found in (audit(t), audit(back), audit(back.data)):
        assert (
            found.suppressed_rows,
            found.suppressed_cells,
            found.n_classes,
            found.k,
            found.n_rows,
        ) == (1, 2, 3, 2, 6)
        assert not found.warnings
    with pytest.warns(GuessedFormWarning, match="'age' as numbers, with"):
        guessed = audit(read_release(tmp_path / "t.csv"))
    assert (guessed.suppressed_rows, guessed.n_classes, guessed.k) == (1, 3, 2)
    literal = audit(read_release(tmp_path / "t.csv", format="ppdt"))
    assert (literal.suppressed_rows, literal.k) == (0, 1)
    assert (
        len(literal.warnings) == 2
        and "'age'" in literal.warnings[0]
        and "kinds=" in literal.warnings[0]
    )


def test_untouched_rows_are_not_suppressed():
    """Suppression counted where nothing was changed (arx-deidentifier/arx#310)."""
    X = pd.DataFrame({"age": range(7), "gender": list("MFMFMFM"), "zip": ["816"] * 7})
    for found in (audit(X), MondrianAnonymizer(k=1).anonymize(X).audit):
        assert (found.suppressed_rows, found.suppressed_cells) == (0, 0)


# ---------- shape of the table
def test_one_column_of_numbers():
    """A frame of one column was taken for something else (sdcTools/sdcMicro#37, #152)."""
    assert (
        3
        <= min(
            sizes(r := MondrianAnonymizer(k=3).anonymize(pd.DataFrame({"x": np.arange(100) / 7})))
        )
        and max(sizes(r)) <= 5
    )


@pytest.mark.parametrize(
    "index", [range(100, 112), [7] * 12, [0, 1] * 6], ids=["from 100", "one label", "two labels"]
)
def test_row_order_index_and_other_columns_stay(index):
    """Rows in another order, rows many times over, columns changed that were not to be
    (sdcTools/sdcMicro#245); indexes that do not start at 0 or repeat.
    """
    t = pd.DataFrame(
        {
            "p": [5, 1, 4, 2, 3, 6] * 2,
            "id": range(12),
            "q": list("abcabcabcabc"),
            "w": np.linspace(1, 0, 12),
        },
        index=pd.Index(index),
    )
    r = MondrianAnonymizer(k=4, quasi_identifiers=["p", "q"], published=["id", "w"]).anonymize(t)
    assert r.data.index.identical(t.index) and list(r.data) == list(t) and len(r.data) == 12
    pd.testing.assert_frame_equal(r.data[["id", "w"]], t[["id", "w"]])


def test_time_and_memory_follow_the_rows_not_the_declared_categories():
    """A product of all declared categories is made (pandas-dev/pandas#30552, #24333, #17594); the
    loss counts what occurs.
    """
    t = pd.DataFrame(
        {"A": pd.Categorical(range(24), categories=range(10**5)), "B": range(24), "C": range(24)}
    )
    assert audit(t).class_sizes == (1,) * 24
    r = MondrianAnonymizer(k=3).anonymize(t)
    assert (
        len(r.cells("A")[1]) <= 8
        and max(len(c.values) for c in r.cells("A")[1]) <= 24
        and len(r.data.A.cat.categories) <= 8
    )
    # three of 24 words; two of 23 steps, twice
    assert r.audit.gcp == pytest.approx((3 / 24 + 2 * 2 / 23) / 3)


def test_levels_stay_when_all_values_are_equal(tmp_path):
    """A hierarchy lost levels that divide nothing (arx-deidentifier/arx#362)."""
    t = Taxonomy.from_edges([1, 5, 7], [0, 5, 10], [0, 10], [0, 10])
    assert t.height == 4 and [t.generalize(1, l) for l in range(5)] == [
        "1",
        "[0, 5)",
        "[0, 10)",
        "[0, 10)",
        "*",
    ]
    u = Taxonomy.from_edges([1, 5, 7], range(0, 21, 5), [0, 10, 20], [0, 20])
    assert u.height == 4 and [u.cut(l) for l in (2, 3, 4)] == [("[0, 10)",), ("[0, 20)",), ("*",)]
    for tree in (t, u):
        tree.to_csv(tmp_path / "t.csv")
        assert Taxonomy.from_csv(tmp_path / "t.csv", "int64") == tree


def test_the_published_range_is_the_regions_own():
    """The range of the whole table is published after a split (qiyuangong/Mondrian#5)."""
    r = MondrianAnonymizer(k=4, recoding="interval").anonymize(
        pd.DataFrame({"a": range(1, 9), "b": [1] * 4 + [9] * 4})
    )
    assert (
        r.data.b.tolist() == [1] * 4 + [9] * 4
        and r.data.a.tolist() == [Interval(1, 4)] * 4 + [Interval(5, 8)] * 4
    )


def test_a_category_is_one_attribute():
    """A block of one-hot columns was changed to rows with no 1, or two (IBM/ai-privacy-toolkit#72):
    a category needs no block, and a block's sets hold the truth.
    """
    X = pd.DataFrame({"c": list("aabbccab")})
    for c, v in zip(MondrianAnonymizer(k=3).anonymize(X).data.c, X.c):
        assert v == c or v in c.values
    block = pd.get_dummies(X).astype(int)
    data = MondrianAnonymizer(k=3).anonymize(block).data
    for o in block:
        codes, cs = cells(data[o])
        assert all(v in cs[i].values for i, v in zip(codes, block[o]))


# ---------- missing values
@pytest.mark.parametrize("gap", [N, None, pd.NA], ids=str)
def test_a_row_with_a_missing_value_is_a_class(gap):
    """The row is forgotten by a grouping (pandas-dev/pandas#3729, #38227, #55919)."""
    t = pd.DataFrame(
        {
            "age": pd.array([30] * 6 + [gap], dtype="object" if gap is None else "Float64"),
            "s": ["a"] * 7,
        }
    )
    found = audit(t, ["age"], k=2)
    assert class_sizes(t).tolist() == [1, 6] and (
        found.k,
        found.class_sizes,
        found.n_rows,
        found.holds,
    ) == (1, (1, 6), 7, False)


def test_no_row_is_lost_in_silence():
    """Rows with a missing quasi-identifier vanish (pandas-dev/pandas#3729 and anonymizers that
    compare with a median).
    """
    X = pd.DataFrame({"age": [30.0] * 6 + [N], "s": ["a"] * 7})
    with pytest.raises(ValueError, match="1 in 'age'"):
        MondrianAnonymizer(k=2).anonymize(X)
    r = MondrianAnonymizer(k=2, missing="category").anonymize(X)
    assert len(r.data) == 7 and r.audit.k == 7 and MISSING in r.data.age[6].values
    r = MondrianAnonymizer(k=2, missing="drop").anonymize(X)
    assert len(r.data) == 6 and r.lost.tolist() == [6] and r.audit.lost_rows == 1


@pytest.mark.parametrize("recoding", ["set", "interval"])
def test_seven_missing_numbers_of_sixty(recoding):
    """Rows that are neither below nor above a median vanish: 53 of 60 come out."""
    X = pd.DataFrame(
        {"age": [float(i) if i % 9 else N for i in range(1, 61)] + [N], "zip": range(61)}
    ).iloc[1:]
    assert X.age.isna().sum() == 7 and len(X) == 60
    r = MondrianAnonymizer(k=3, missing="category", recoding=recoding).anonymize(X)
    assert len(r.data) == 60 and r.audit.lost_rows == 0 and r.audit.k >= 3
    r = MondrianAnonymizer(k=3, missing="drop", recoding=recoding).anonymize(X)
    assert len(r.data) == 53 and len(r.lost) == r.audit.lost_rows == 7


def test_a_class_with_missing_values_loses_no_row(tmp_path):
    """Rows without a class vanish: 4 of 6 come out."""
    r = MondrianAnonymizer(k=3).anonymize(
        pd.DataFrame({"q": [1, 1, 1, 2, 2, 2]}),
        pd.Series(["a", None, "b", None, "a", "b"], name="t"),
    )
    r.to_csv(tmp_path / "out.csv")
    assert len(r.data) == 6 and read_release(tmp_path / "out.csv").y.isna().sum() == 2


@pytest.mark.parametrize("at", range(4))
def test_a_missing_number_does_not_change_the_published_value(at):
    """The largest number of a group hangs on where the missing one stands: `max` with NaN goes by
    the order of the rows.
    """
    ages = [20.0, 22.0, 23.0]
    ages.insert(at, N)
    X = pd.DataFrame({"age": ages + [60.0, 61.0, 62.0]})
    r = MondrianAnonymizer(k=3, missing="drop", recoding="interval").anonymize(X)
    assert r.data.age.iloc[0] == Interval(20.0, 23.0) and r.lost.tolist() == [at]
    kept = MondrianAnonymizer(k=7, missing="category").anonymize(X)
    assert all(c == ValueSet([20.0, 22.0, 23.0, 60.0, 61.0, 62.0, MISSING]) for c in kept.data.age)
    a, c = encode(pd.Series([20, 22, 23], name="age"))
    codes, cs = centroid_recoding(a, c, np.zeros(3, dtype=int))
    assert len(cs) == 1 and isinstance(cs[0], Centroid) and cs[0].value == pytest.approx(65 / 3)


def test_missing_or_not_is_a_cut():
    """A column of one value and missing ones is taken for constant
    (scikit-learn/scikit-learn#32272).
    """
    X, y = pd.DataFrame({"x": [0.0, 0.0, 0.0, N, N]}), [0, 0, 0, 1, 1]
    tree = GeneralizedID3Classifier(entropy="own_value").fit(X, y)
    assert tree.tree_.n_leaves == 2 and tree.predict(X).tolist() == y
    assert sizes(MondrianAnonymizer(k=2, missing="category").anonymize(X)) == [2, 3]


def test_an_unseen_value_is_not_a_missing_one():
    """An unseen value gets what was learnt of missing ones (scikit-learn/scikit-learn#34691): it
    gets the shares of the node it has reached.
    """
    X = pd.DataFrame({"x": pd.Series(["a", "a", "b", "b"] + [None] * 4, dtype=object)})
    tree = GeneralizedID3Classifier(entropy="own_value").fit(X, [0, 1, 0, 1, 1, 1, 1, 1])
    assert tree.predict_proba(pd.DataFrame({"x": ["z", None, "a"]}, dtype=object)).tolist() == [
        [0.25, 0.75],
        [0, 1],
        [0.5, 0.5],
    ]


# ---------- k
@pytest.mark.parametrize("n, k", [(60, 100), (3, 5), (14, 15)])
def test_more_than_all_rows_cannot_look_alike(n, k):
    """One class of n < k rows is published without a word."""
    with pytest.raises(
        ValueError,
        match=(
            rf"'k' must not exceed the number of rows. Got k={k} for {n} rows: choose a smaller k"
        ),
    ):
        MondrianAnonymizer(k=k).anonymize(pd.DataFrame({"q": range(n)}))


@pytest.mark.parametrize("k", [0, -3])
def test_k_below_one(k):
    """It never ends, or is accepted."""
    with pytest.raises(
        ValueError, match=f"'k' must be an integer of at least 1. Got {k}: .*use k=1"
    ):
        MondrianAnonymizer(k=k).anonymize(pd.DataFrame({"q": range(60)}))


@pytest.mark.parametrize("k", [2.5, 3.0])
def test_k_is_no_fraction(k):
    """Half a row is accepted."""
    with pytest.raises(TypeError, match=f"'k' must be an integer of at least 1. Got {k}"):
        MondrianAnonymizer(k=k).anonymize(pd.DataFrame({"q": range(60)}))


# ---------- what a call leaves behind
def test_a_second_table_on_one_object_gives_its_own_release():
    """The second call gives the first table's people, secrets included; or fails because parameters
    were replaced.
    """
    A, B = (
        pd.DataFrame({"q": [1, 1, 1], "s": ["x", "y", "z"]}),
        pd.DataFrame({"q": [5, 5, 5, 5], "s": list("abcd")}),
    )
    tool = MondrianAnonymizer(k=3, quasi_identifiers=["q"], published=["s"])
    assert [tool.anonymize(o).data.s.tolist() for o in (A, B, A)] == [
        list("xyz"),
        list("abcd"),
        list("xyz"),
    ]
    assert tool.anonymize(B).data.q.tolist() == [5] * 4


def test_the_callers_table_keeps_its_identifiers():
    """The column is deleted from the table that was given."""
    X = pd.DataFrame({"age": range(10), "y": [f"person {i}" for i in range(10)]})
    before = X.copy()
    assert list(MondrianAnonymizer(k=5, identifiers=["y"]).anonymize(X).data) == ["age"]
    pd.testing.assert_frame_equal(X, before)


@pytest.mark.parametrize("text", ["it's", 'say "x"', "a\\'b", "'''", "{x}", "__import__('os')"])
def test_values_are_never_code(text, tmp_path, monkeypatch):
    """A quote in a value breaks rules written as a program; files appear in the working folder."""
    monkeypatch.chdir(tmp_path)
    X = pd.DataFrame({"a": [text, text, "b", "b"]})
    assert GeneralizedID3Classifier(random_state=0).fit(X, [1, 1, 0, 0]).predict(X).tolist() == [
        1,
        1,
        0,
        0,
    ]
    assert len(MondrianAnonymizer(k=2).anonymize(X).data) == 4 and not list(tmp_path.iterdir())


# ---------- columns
def test_categorical_quasi_identifiers_are_used():
    """Columns are looked up by their old numbers after others were taken out or split up: some
    quasi-identifiers are not used.
    """
    X = pd.DataFrame(
        {
            "w": range(8),
            "job": list("aaaabbbb"),
            "id": [f"p{i}" for i in range(8)],
            "age": [1, 1, 9, 9] * 2,
        }
    )
    r = MondrianAnonymizer(k=2, published=["w"], identifiers=["id"]).anonymize(X)
    assert (
        sizes(r) == [2] * 4
        and r.data.job.tolist() == X.job.tolist()
        and r.data.age.tolist() == X.age.tolist()
    )


def test_columns_go_by_name_at_predict():
    """Columns in another order are taken by position."""
    X, y = pd.DataFrame({"a": list("xxyyxxyy"), "b": list("xyxyxyxy")}), [1, 1, 0, 0] * 2
    for model in (
        GeneralizedID3Classifier(random_state=0),
        AnonymizedClassifier(
            MondrianAnonymizer(k=2), GeneralizedID3Classifier(random_state=0), test="recoded"
        ),
    ):
        model.fit(X, y)
        assert model.predict(X[["b", "a"]]).tolist() == model.predict(X).tolist() == y


# ---------- what cannot be known
def test_without_a_population_its_risks_are_unknown():
    """A score is made up from nothing."""
    found = audit(pd.DataFrame({"q": list("aabb")}))
    assert (
        found.k == 2
        and found.risk_journalist
        is found.risk_marketer
        is found.delta_max
        is found.l_distinct
        is found.t
        is None
    )


# ---------- conditions on a secret, taxonomies
def test_the_t_that_was_asked_for_is_kept():
    """The threshold is overwritten by a variable of the same name: pure groups are published."""
    X = pd.DataFrame({"age": [20] * 10 + [60] * 10, "s": ["flu"] * 10 + ["hiv"] * 10})
    r = MondrianAnonymizer(
        k=3, quasi_identifiers=["age"], constraints=[TCloseness(0.01, sensitive="s")]
    ).anonymize(X)
    assert r.audit.class_sizes == (20,) and set(r.data.age) == {ValueSet([20, 60])}
    free = MondrianAnonymizer(k=3, quasi_identifiers=["age"], published=["s"])
    assert free.anonymize(X).audit.class_sizes == (10, 10)


def test_a_secret_of_one_value_is_not_diverse():
    """The whole table is never checked: l = 1 is published for l = 2."""
    X = pd.DataFrame({"age": range(10), "s": ["flu"] * 10})
    with pytest.raises(ValueError, match="whole table"):
        MondrianAnonymizer(
            k=2, quasi_identifiers=["age"], constraints=[LDiversity(2, sensitive="s")]
        ).anonymize(X)


def test_an_empty_secret_protects_nobody():
    """An empty field counts as a second value: four with hiv and one without an entry are
    "2-diverse".
    """
    X = pd.DataFrame(
        {"age": [20] * 5 + [60] * 5, "s": ["hiv"] * 4 + [None] + ["flu"] * 4 + ["hiv"]}
    )
    for c in (LDiversity(2, sensitive="s"), Alpha(0.8, sensitive="s"), Alpha(0.8, "hiv", "s")):
        r = MondrianAnonymizer(k=5, quasi_identifiers=["age"], constraints=[c]).anonymize(X)
        assert sizes(r) == [10]
        assert not audit(X, ["age"], constraints=[c]).holds
    found = audit(X, ["age"], sensitive="s")
    assert (found.l_distinct, found.alpha, found.missing_secrets) == (
        1,
        1,
        1,
    ) and "1 secrets are missing" in found.warnings[0]
    assert "may have the same secret" in found.explain()


def test_secrets_are_told_of_persons_not_of_rows():
    """Everybody has a row with hiv and a row with flu: by rows nobody's secret is sure."""
    t = pd.DataFrame({"sex": ["F"] * 10, "name": list("abcde") * 2, "s": ["hiv"] * 5 + ["flu"] * 5})
    with pytest.raises(ValueError, match="5 persons have several different secrets of 's'"):
        audit(t, ["sex"], person="name", sensitive="s", constraints=[Alpha(0.5, sensitive="s")])
    assert audit(t, ["sex"], person="name", sensitive="s").alpha is None


@pytest.mark.parametrize(
    "taxonomies",
    [{}, {"age": Taxonomy.from_edges(range(60), range(0, 61, 10))}],
    ids=["none", "age"],
)
def test_a_column_without_a_taxonomy_is_generalized_too(taxonomies):
    """It is published raw: 42 classes, the smallest of one row."""
    X = pd.DataFrame({"age": range(60), "zip": [f"{i % 42:03}" for i in range(60)]})
    assert MondrianAnonymizer(k=5, taxonomies=taxonomies).anonymize(X).audit.k >= 5
