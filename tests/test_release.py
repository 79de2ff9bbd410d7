"""The frame of all anonymizers: no lie is published, files that are wrong are refused. What each
method promises is in test_contract.py.
"""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from random_tables import row_cells

from ppdt.datasets import load_customers
from ppdt.engine.checks import check_class
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit
from ppdt.release import (
    AnonymizedClassifier,
    Anonymizer,
    GuaranteeError,
    Published,
    published_column,
    read_release,
    unchanged,
)
from ppdt.tables import (
    Exact,
    MixedTypesWarning,
    Suppressed,
    TextFormError,
    ValueSet,
    canonical_order,
    encode,
    schema_path,
)


def _canonical(r):
    return canonical_order([r.data[o] for o in r.data] + [r.y])


# the guarantee
# --------------------------------------------------------------------------------------------------


class Lazy(Anonymizer):
    "Publishes everybody as he is"

    def _publish(self, task):
        self.half_ = "left behind"
        return unchanged(task)


class Coarse(Anonymizer):
    "Publishes the first value for all, as if it were exact"

    def _publish(self, task):
        return Published(
            [
                (np.zeros(len(c), dtype=int), [Exact(a.items[0])])
                for a, c in zip(task.attributes, task.codes)
            ]
        )


class Hidden(Anonymizer):
    def _publish(self, task):
        return Published([(np.zeros(len(c), dtype=int), [Suppressed()]) for c in task.codes])


@pytest.fixture
def shop():
    t = load_customers()
    return t.drop(columns="Bought"), t["Bought"]


def test_a_classifier_that_reads_no_cells_is_told_what_helps():
    from sklearn.tree import DecisionTreeClassifier

    with pytest.raises(TypeError, match="put a ReleaseEncoder before it"):
        AnonymizedClassifier(MondrianAnonymizer(k=5), DecisionTreeClassifier()).fit(
            load_customers()[["Age"]], load_customers().Bought
        )


def test_a_lie_is_caught(shop):
    for lie in (Lazy(k=2), Lazy(k=14)):
        with pytest.raises(
            GuaranteeError, match="promised k-anonymity with k = .*nothing is returned"
        ):
            lie.anonymize(*shop)
        assert (
            not hasattr(lie, "release_")
            and not hasattr(lie, "half_")
            and not hasattr(lie, "attributes_")
        )
        with pytest.raises(GuaranteeError):
            lie.fit_transform(*shop)
    with pytest.raises(GuaranteeError):
        AnonymizedClassifier(Lazy(k=2), GeneralizedID3Classifier()).fit(*shop)


def test_a_lie_about_one_row_is_caught(shop):
    class Slip(MondrianAnonymizer):
        def _publish(self, task):
            res = super()._publish(task)
            (c, cs), *rest = res.columns
            c = c.copy()
            c[5] = len(cs)
            return replace(res, columns=[(c, cs + [Exact("somebody")]), *rest])

    with pytest.raises(GuaranteeError):
        Slip(k=3).anonymize(*shop)


def test_exact_cells_that_are_not_the_raw_ones_are_false(shop):
    with pytest.raises(GuaranteeError, match="values of the original.*0 of 14 rows hold"):
        Coarse(k=14).anonymize(*shop)
    a, codes = encode(shop[0].Age)
    published = published_column(codes * 0, [Exact(22)], shop[0].Age, a, codes)
    assert published.tolist() == [22] * 14 and published.dtype == shop[0].Age.dtype


def test_a_table_changed_after_its_audit_is_not_written(shop, tmp_path):
    r = MondrianAnonymizer(k=3).anonymize(*shop)
    r.data.loc[1, "Gender"] = r.data.loc[9, "Gender"]
    for write in (r.to_csv, r.to_parquet):
        with pytest.raises(GuaranteeError, match="changed after its audit"):
            write(tmp_path / ("out.csv" if write == r.to_csv else "out.parquet"))
    assert not list(tmp_path.iterdir())


def test_suppressed_rows_are_counted_apart_before_and_after(shop, tmp_path):  # CASES 5
    r = Hidden(k=3).anonymize(*shop)
    assert (r.audit.suppressed_rows, r.audit.n_rows, r.audit.k) == (14, 0, None)
    r.to_csv(tmp_path / "out.csv")
    back = read_release(tmp_path / "out.csv").audit
    assert (back.suppressed_rows, back.n_rows, back.k) == (14, 0, None)
    (tmp_path / "foreign.csv").write_text("age,sex\n20,M\n20,M\n30,F\n30,F\n*,*\n40,F\n40,F\n")
    a = audit(
        read_release(tmp_path / "foreign.csv", kinds={"age": "numeric", "sex": "categorical"}).data
    )
    assert (a.suppressed_rows, a.n_classes, a.k) == (1, 3, 2)


# what leaves the house
# -------------------------------------------------------------------------------------------


def test_the_schema_says_no_more_than_the_table(tmp_path):
    X = pd.DataFrame(
        {
            "small": np.array([1, 2, 3, 4], dtype="int8"),
            "cat": pd.Categorical(list("aabb"), categories=list("zabq")),
            "w": np.array([0.5, 0.5, 1, 1], dtype="float32"),
        }
    )
    r = MondrianAnonymizer(k=2, quasi_identifiers=["small"], published=list(X)[1:]).anonymize(
        X, pd.Series([1, 0, 1, 0], dtype="uint8")
    )
    r.to_csv(tmp_path / "out.csv")
    text = (tmp_path / "out.csv.schema.json").read_text()
    assert not any(
        o in text for o in ("int8", "float32", '"z"', '"q"', "seed", "random", "index", "count")
    )
    assert {o["name"]: o["dtype"] for o in json.loads(text)["columns"]} == {
        "small": "int64",
        "cat": "category[str]",
        "w": "float64",
        "class": "int64",
    }
    assert read_release(tmp_path / "out.csv").data.cat.cat.categories.tolist() == ["a", "b"]


def test_the_parquet_file_has_no_index_and_no_attributes(tmp_path):
    import pyarrow.parquet as pq

    X = pd.DataFrame(
        {"q": [1, 1, 2, 2]}, index=pd.Index(["Ada", "Bea", "Cleo", "Dora"], name="person")
    )
    X.attrs["source"] = "ward 7"
    MondrianAnonymizer(k=2).anonymize(X).to_parquet(tmp_path / "out.parquet")
    data = (tmp_path / "out.parquet").read_bytes()
    assert not any(o in data for o in (b"Ada", b"person", b"ward"))
    assert pq.read_table(tmp_path / "out.parquet").column_names == ["q"]


def test_minus_zero_does_not_tell_the_order(tmp_path):
    r = [
        MondrianAnonymizer(k=1).anonymize(pd.DataFrame({"q": o, "w": o})).text()
        for o in ([0.0, -0.0], [-0.0, 0.0])
    ]
    assert r[0].equals(r[1])


def test_a_failed_write_leaves_the_old_file(shop, tmp_path):
    r = MondrianAnonymizer(k=3).anonymize(*shop)
    r.to_csv(tmp_path / "out.csv")
    before = {o.name: o.read_bytes() for o in tmp_path.iterdir()}
    with pytest.raises(ValueError, match="must end in .csv"):
        r.to_csv(tmp_path / "out.txt")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        r.to_csv(tmp_path / "nowhere" / "out.csv")
    bad = MondrianAnonymizer(
        k=3, quasi_identifiers=["Age"], published=["Gender", "Marital", "w"]
    ).anonymize(
        shop[0].assign(w=pd.Series(["\ud800"] * 14, dtype=object, index=shop[0].index)), shop[1]
    )
    with pytest.raises(ValueError, match="'w' must hold what can be written"):
        bad.to_csv(tmp_path / "out.csv")
    assert {o.name: o.read_bytes() for o in tmp_path.iterdir()} == before


def test_objects_in_columns_are_read_as_what_they_hold(tmp_path):
    X = pd.DataFrame(
        {
            "q": pd.Series([1, 1, 2, 2], dtype=object),
            "b": pd.Series([True, False, True, False], dtype=object),
            "n": pd.Series([1, 2, 3, 4], dtype=object),
        }
    )
    r = MondrianAnonymizer(k=2, quasi_identifiers=["q"], published=list(X)[1:]).anonymize(
        X, pd.Series([1, 0, 1, 0], dtype=object)
    )
    r.to_csv(tmp_path / "out.csv")
    back = read_release(tmp_path / "out.csv")
    at = _canonical(r)
    for o in X:
        assert row_cells(back.data[o]) == row_cells(r.data[o].iloc[at])


# scikit-learn
# --------------------------------------------------------------------------------------------------


def test_arrays(shop):
    A = np.array([[1, 5], [1, 6], [2, 7], [2, 8]])
    r = MondrianAnonymizer(k=2, quasi_identifiers=["x0"], published=["x1"]).anonymize(
        A, [0, 1, 0, 1]
    )
    assert (
        r.data.x1.tolist() == [5, 6, 7, 8] and r.y.name == "class" and r.audit.class_sizes == (2, 2)
    )
    tool = MondrianAnonymizer(k=2).fit(pd.DataFrame(A, columns=["a", "b"]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert list(tool.transform(A)) == ["a", "b"]
    with pytest.raises(
        ValueError, match="X has 1 features, but MondrianAnonymizer is expecting 2 features"
    ):
        tool.transform(A[:, :1])


def test_y_is_aligned_by_position(shop):
    X, y = shop
    other = y.set_axis(range(100, 114))
    for o in (other, y.to_numpy(), y.tolist(), y.to_frame(), y.astype("category"), pd.Index(y)):
        r = MondrianAnonymizer(k=3).anonymize(X, o)
        assert r.y.tolist() == y.tolist() and r.y.index.identical(X.index)
    with pytest.warns(Warning, match="column-vector y"):
        assert check_class(y.to_numpy()[:, None], X).tolist() == y.tolist()


def test_the_class_does_not_change_the_groups(shop):
    X, y = shop
    assert (
        MondrianAnonymizer(k=3)
        .anonymize(X)
        .text()
        .equals(
            MondrianAnonymizer(k=3)
            .anonymize(X, y)
            .text()
            .drop(columns="Bought")
            .sort_values(list(X), ignore_index=True)
        )
    )


def test_lost_rows_leave_x_and_y_together():
    X = pd.DataFrame({"a": [1, 1, np.nan, 2, 2, 2], "b": list("xxyyxx")})
    y = pd.Series([0, 0, 9, 1, 1, 1])
    seen = {}

    class Spy(GeneralizedID3Classifier):
        def fit(self, X, y):
            seen["y"], seen["n"] = y.tolist(), len(X)
            return super().fit(X, y)

    model = AnonymizedClassifier(
        MondrianAnonymizer(k=2, published=["b"], missing="drop"), Spy(random_state=0)
    ).fit(X, y)
    assert seen == {"y": [0, 0, 1, 1, 1], "n": 5} and model.classes_.tolist() == [0, 1]


def test_identifiers_may_be_absent_later(shop):
    X, y = shop
    named = X.assign(Name=list("abcdefghijklmn"))
    for test in ("raw", "recoded"):
        model = AnonymizedClassifier(
            MondrianAnonymizer(k=3, identifiers=["Name"]),
            GeneralizedID3Classifier(random_state=0),
            test=test,
        ).fit(named, y)
        assert (model.predict(X) == model.predict(named[named.columns[::-1]])).all()


def test_predict_proba_is_there_only_when_the_classifier_has_it():
    class Plain(GeneralizedID3Classifier):
        predict_proba = property(lambda self: (_ for _ in ()).throw(AttributeError("no")))

    assert not hasattr(AnonymizedClassifier(MondrianAnonymizer(), Plain()), "predict_proba")
    assert hasattr(
        AnonymizedClassifier(MondrianAnonymizer(), GeneralizedID3Classifier()), "predict_proba"
    )


def test_recoding_needs_a_method_that_can(shop):
    with pytest.raises(TypeError, match="must be 'raw'.*Hidden"):
        AnonymizedClassifier(Hidden(k=2), GeneralizedID3Classifier(), test="recoded").fit(*shop)
    with pytest.raises(TypeError, match="cannot recode new rows"):
        Hidden(k=2).fit(*shop).transform(shop[0])


# reading
# --------------------------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path):
    X = pd.DataFrame(
        {
            "age": [20, 21, 22, 23],
            "ok": [True, True, False, False],
            "cat": pd.Categorical(list("aabb")),
            "w": [0.5, 1, 2, 3],
        }
    )
    MondrianAnonymizer(k=2, quasi_identifiers=["age"], published=list(X)[1:]).anonymize(
        X, pd.Series([1, 0, 1, 0], name="cls")
    ).to_csv(tmp_path / "out.csv")
    return tmp_path / "out.csv"


def _edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    "old,new,says",
    [
        ('"{20, 21}"', '"{20, x}"', "column 'age', row 1 after the header"),
        ('"{20, 21}"', '"[30, 20]"', "column 'age', row 1 after the header"),
        ('"{20, 21}"', '"[20]"', "column 'age'"),
        ('"{20, 21}"', "{}", "column 'age'"),
        ('"{20, 21}"', '"[""missing"", 5]"', "column 'age'"),
        ('"{20, 21}"', "twenty", "'twenty'"),
        (",True,", ",Yes,", "column 'ok'"),
        (",a,", ",c,", "c is not one of the declared categories"),
        (",0.5,", ",inf,", "column 'w'"),
        (",0.5,", ",nan,", "column 'w'"),
        (",0\n", ",0.5\n", "column 'cls'"),
        (",0\n", ',"~1\n', "cut off|not a whole|fields"),
        (",0\n", "\n", "must have 5 fields"),
        (",0\n", ",99999999999999999999999\n", "column 'cls'"),
    ],
)
def test_a_file_edited_by_hand(written, old, new, says):
    _edit(written, old, new)
    with pytest.raises(TextFormError, match=f"{says}|SHA-256"):
        read_release(written)
    with pytest.raises(TextFormError, match=says):
        read_release(written, changed=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("columns"),
        lambda d: d.update(columns=3),
        lambda d: d.update(columns=[1]),
        lambda d: d.update(format="x"),
        lambda d: d.update(version=2),
        lambda d: d.update(taxonomies=[]),
        lambda d: d["columns"][0].pop("name"),
        lambda d: d["columns"][0].pop("dtype"),
        lambda d: d["columns"][0].update(role="x"),
        lambda d: d["columns"][0].update(kind=None),
        lambda d: d["columns"][0].update(dtype="object"),
        lambda d: d["columns"][0].update(dtype="datetime64[ns, Nowhere/Here]"),
        lambda d: d["columns"][0].update(dtype=5),
        lambda d: d["columns"][2].update(values="ab"),
        lambda d: d["columns"][2].update(values=["a", "a"]),
        lambda d: d["columns"][2].update(values=["a"]),
        lambda d: d["columns"][2].update(values=["{a, b}", "b"]),
        lambda d: d["columns"][0].update(role="class"),
        lambda d: d["columns"].pop(),
        lambda d: d["columns"].reverse(),
        lambda d: d["columns"][0].update(name="x"),
    ],
)
def test_a_malformed_schema(written, change):
    at = schema_path(written)
    d = json.loads(at.read_text())
    change(d)
    at.write_text(json.dumps(d))
    with pytest.raises(TextFormError):
        read_release(written)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b"\xff\xfe"])
def test_a_schema_that_is_none(written, raw):
    schema_path(written).write_bytes(raw)
    with pytest.raises(TextFormError):
        read_release(written)


def test_a_missing_cell_in_an_edited_file(written):
    _edit(written, ",True,", ",,")
    _edit(written, ",0.5,", ",,")
    r = read_release(written, changed=True)
    assert (
        r.data.ok.isna().sum() == 1 and r.data.ok.dtype == "boolean" and r.data.w.isna().sum() == 1
    )


def test_missing_whole_numbers_in_a_column_without_a_role(tmp_path):
    X = pd.DataFrame({"q": [1, 1, 2, 2], "w": pd.array([1, None, 3, None], dtype="Int64")})
    MondrianAnonymizer(k=2, quasi_identifiers=["q"], published=["w"]).anonymize(X).to_csv(
        tmp_path / "out.csv"
    )
    back = read_release(tmp_path / "out.csv").data.w
    assert back.dtype == "Int64" and back.isna().sum() == 2 and set(back.dropna()) == {1, 3}


def test_kinds_and_no_schema(written):
    schema_path(written).unlink()
    plain = read_release(written, format="ppdt")
    assert (
        plain.audit is None
        and set(plain.data.age) == {"{20, 21}", "{22, 23}"}
        and plain.data.age[0] == "{20, 21}"
        and plain.schema.role("other") == list(plain.data)
    )
    some = read_release(written, kinds={"age": "numeric"})
    assert some.data.age[0] == ValueSet([20, 21]) and set(some.data.w) == {
        "0.5",
        "1.0",
        "2.0",
        "3.0",
    }
    # a table of strings can be written, and read
    some.to_csv(written.with_name("again.csv"))
    assert read_release(written.with_name("again.csv")).text().equals(some.text())
    with pytest.raises(
        ValueError, match="'kinds' must name columns of the file. Got 'x'; the columns are age"
    ):
        read_release(written, kinds={"x": "numeric"})
    with pytest.raises(
        ValueError, match="'kinds' must say 'numeric' or 'categorical'. Got 'number'"
    ):
        read_release(written, kinds={"age": "number"})


def test_kinds_go_before_the_schema(written):
    r = read_release(written, kinds={"age": "categorical"})
    assert (
        r.data.age[0] == ValueSet(["20", "21"])
        and r.audit.k == 2
        and r.roles.quasi_identifiers == ("age",)
    )
    r.to_csv(written)
    assert read_release(written).data.age[0] == ValueSet(["20", "21"])


def test_a_file_without_rows(written):
    written.write_text(written.read_text().splitlines()[0] + "\n")
    r = read_release(written, changed=True)
    assert len(r.data) == 0 and r.audit.k is None and r.audit.n_rows == 0


def test_mixed_values_are_text_and_said_once(tmp_path):
    X = pd.DataFrame({"q": [1, "1", "a", 2, 2, "b"]})
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        tool = MondrianAnonymizer(k=3).fit(X)
    assert [o.category for o in w] == [MixedTypesWarning]
    values = set().union(*[c.values for c in tool.release_.cells("q")[1]])
    assert values == {"1", "2", "a", "b"}
    # new rows of numbers meet the text
    again = tool.transform(pd.DataFrame({"q": [1, 2]}))
    assert {"1"} <= again.q[0].values and {"2"} <= again.q[1].values


def test_display(shop):
    r = MondrianAnonymizer(k=3).anonymize(*shop)
    assert (
        "k-anonymity with k = 3: holds" in str(r)
        and "14 rows, 8 shown" in r._repr_html_()
        and "Bought" in r._repr_html_()
    )
    assert repr(r) == str(r)
    with pytest.raises(
        ValueError,
        match="'column' must be a column of the release. Got 'x'; the columns are Gender",
    ):
        r.cells("x")
