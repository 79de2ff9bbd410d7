"""Files of other tools are read as cells: their forms one by one, what they wrote in earnest, and
what the oracles say of it.

`anonypy_adult_k50.csv.gz` was written by anonypy 0.2.1, `anonypyx_adult_k50.csv.gz` by anonypyx
0.2.11 ("human-readable"), from the complete training rows of Adult with nine quasi-identifiers.
"""

import gzip
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import example, given, strategies as st

from ppdt import cli
from ppdt.c45 import C45Classifier
from ppdt.engine.foreign_texts import (
    FORMATS,
    foreign_column,
    guess_column,
    one_row_each,
    range_cell,
)
from ppdt.generalization import Taxonomy
from ppdt.loss import cell_ncp, ncp
from ppdt.privacy import audit
from ppdt.release import GuessedFormWarning, read_release
from ppdt.tables import (
    MISSING,
    Exact,
    Interval,
    Node,
    Suppressed,
    TextFormError,
    ValueSet,
    cells,
    encode,
    trusted,
)

HERE = Path(__file__).parent / "data"
INF = float("inf")


def cells_of(s):
    """The cell of each row, None where it is missing"""
    codes, held = cells(s)
    return [None if i < 0 else held[i] for i in codes]


# ---------------------------------------------------------------- single texts

RANGES = {
    "[20, 30[": Interval(20, 30, True),
    "[20, 30]": Interval(20, 30),
    "[20-30)": Interval(20, 30, True),
    "[20;30)": Interval(20, 30, True),
    "20-30": Interval(20, 30),
    "20 – 30": Interval(20, 30),
    "20-20": Exact(20),
    "0.5-1e-05": None,
    "1e-05-0.5": Interval(1e-05, 0.5),
    "-5--1": Interval(-5, -1),
    "-5-1": Interval(-5, 1),
    "(1.5e+03,2e+03]": Interval(np.nextafter(1500, INF), 2000.0),
    "(65, Inf]": Interval(np.nextafter(65, INF), INF, True),
    "(-Inf,20]": Interval(-INF, 20),
    "[-∞, 20[": Interval(-INF, 20, True),
    "<50": Interval(-INF, 50, True),
    "≤50": Interval(-INF, 50),
    ">=50": Interval(50, INF, True),
    "> 50": Interval(np.nextafter(50, INF), INF, True),
}
NO_RANGES = ["", "20", "a-b", "20-", "-20", "2020-01-31", "2020-01", "01-12", "007-9", "30-20"]
NO_RANGES += ["[30, 20[", "(20,20]", "[20, 20[", "[1, 2, 3]", "20-30-40", "[20, 30", "1-1e999"]
NO_RANGES += ["[inf, inf]", "<inf", "1_0-20", "١-٣", "[" + "9" * 500 + ", 2]"]


@pytest.mark.parametrize("text", RANGES)
def test_a_range(text):
    assert range_cell(text) == RANGES[text]


@pytest.mark.parametrize("text", NO_RANGES)
def test_no_range(text):
    assert range_cell(text) is None


def test_ranges_of_r_do_not_touch():
    low, high = range_cell("(10,20]"), range_cell("(20,30]")
    age = encode(pd.Series([10, 11, 20, 21, 30]))[0]
    assert low.possible(age).tolist() == [False, True, True, False, False]
    assert high.possible(age).tolist() == [False, False, False, True, True]


# ---------------------------------------------------------------- read back what was written

_ints = st.integers(-999, 9_999)
_numbers = _ints | st.floats(-99, 99).map(lambda x: round(x, 3) + 0.0)
_words = st.text("abcxyzé ", min_size=1, max_size=4).map(str.strip).filter(bool)


@st.composite
def _pairs(draw, some=_numbers):
    """Two numbers that grow"""
    lo, hi = sorted((draw(some), draw(some)))
    return lo, hi if hi > lo else lo + 1


def _written(*pairs):
    """(text, cell)"""
    return st.sampled_from(pairs)


_plain = _numbers.map(lambda x: (repr(x), Exact(x)))
_stars = _written(("*", Suppressed()), ("***", Suppressed()))
_gap = _written(("", None))
_half = _pairs().map(lambda p: (f"[{p[0]}, {p[1]}[", Interval(*p, True)))
_closed = _pairs().map(lambda p: (f"[{p[0]}, {p[1]}]", Interval(*p)))
_under = _numbers.map(lambda x: (f"<{x}", Interval(-INF, x, True)))
_over = _numbers.map(lambda x: (f">={x}", Interval(x, INF, True)))
_dashed = _pairs().map(lambda p: (f"{p[0]}-{p[1]}", Interval(*p)))
_braced = st.sets(_numbers, min_size=2, max_size=4).map(
    lambda s: ("{" + ", ".join(map(str, s)) + "}", ValueSet(s))
)
_of_r = _pairs().map(
    lambda p: (f"({p[0]},{p[1]}]", Interval(float(np.nextafter(float(p[0]), INF)), p[1]))
)
_word = _words.filter(lambda o: o not in ("NULL", "NA")).map(lambda o: (o, Exact(o)))
_word_sets = st.sets(_words, min_size=2, max_size=4)
_braced_words = _word_sets.map(lambda s: ("{" + ", ".join(s) + "}", ValueSet(s)))
_joined = _word_sets.map(lambda s: (",".join(s), ValueSet(s)))
_packed = st.one_of(_word, _joined).map(lambda p: (f"['{p[0]}']", p[1]))


def _column(*kinds):
    """Texts and cells of a column"""
    return st.lists(st.one_of(*kinds), min_size=1, max_size=12)


@st.composite
def _masks(draw):
    """Codes of one length, some of them masked"""
    n = draw(st.integers(2, 5))
    rows = []
    for code in draw(st.lists(st.text("0123A", min_size=n, max_size=n), min_size=1, max_size=8)):
        shown = draw(st.integers(0, n))
        text = code[:shown] + "*" * (n - shown)
        cell = Suppressed() if not shown else Exact(code) if shown == n else Node(text)
        rows.append((text, cell))
    return rows


_null = _written(("NULL", None))
_na = _written(("NA", Suppressed()))
FORMS = {
    "arx numbers": _column(_plain, _half, _closed, _under, _over, _braced, _stars, _gap, _null),
    "arx words": _column(_word, _braced_words, _stars, _gap, _null),
    "arx codes": _masks(),
    "anonypy numbers": _column(_plain, _dashed, _gap),
    "anonypy words": _column(_word, _joined, _packed, _gap),
    "sdcmicro numbers": _column(_plain, _of_r, _closed, _dashed, _na, _gap),
    "sdcmicro words": _column(_word, _na, _gap),
}


@pytest.mark.parametrize("form", FORMS)
@one_in(12)
@given(st.data(), st.sampled_from(",;\t|"), st.sampled_from(["utf-8", "latin-1", "utf-16"]))
def test_what_a_tool_writes_is_read_back(tmp_path_factory, form, data, sep, encoding):
    """The cells, their kind, and the same from our own file of them"""
    rows = data.draw(FORMS[form])
    path = tmp_path_factory.getbasetemp() / "foreign.csv"
    t = pd.DataFrame({"x": [o for o, _ in rows], "row": [f"r{i}" for i in range(len(rows))]})
    t.to_csv(path, sep=sep, encoding=encoding, index=False, lineterminator="\n")
    kind = {"numbers": "numeric"}.get(form.split()[1], "categorical")
    r = read_release(path, {"x": kind}, format=form.split()[0], sep=sep, encoding=encoding)
    assert cells_of(r.data.x) == [o for _, o in rows]
    assert r.data.row.tolist() == t.row.tolist() and r.schema.columns[0]["kind"] == kind
    if any(o is not None for _, o in rows):
        own = tmp_path_factory.getbasetemp() / "own.csv"
        r.to_csv(own)
        back = read_release(own)
        order = back.data.row.str[1:].astype(int)
        assert cells_of(back.data.x) == [rows[i][1] for i in order]
        assert back.taxonomies == r.taxonomies


@given(st.lists(st.one_of(_half, _closed, _over, _dashed, _braced, _plain), min_size=1))
def test_the_kind_is_found(rows):
    """Numbers and ranges make a column of numbers, whoever wrote them"""
    texts = [o for o, _ in rows] + ["", "*"]
    for tool in FORMATS[1:]:
        c = foreign_column(texts, "x", tool)
        assert c.kind == "numeric" and cells_of(c.column)[:-2] == [o for _, o in rows]


@given(st.lists(st.tuples(_joined | _word, st.integers(1, 4)), min_size=1, max_size=6))
def test_rows_are_counted_as_anonypy_counts_them(rows):
    t = pd.DataFrame({"x": [f"['{o}']" for (o, _), _ in rows], "count": [str(n) for _, n in rows]})
    got = cells_of(foreign_column(one_row_each(t).x, "x", "anonypy").column)
    assert got == [cell for (_, cell), n in rows for _ in range(n)]


COUNTRIES = ["United-States", "Outlying-US(Guam-USVI-etc)", "Trinadad&Tobago", "Hong", "Honduras"]
LISTS = [  # text, names, values
    ("Outlying-US(Guam-USVI-etc)", COUNTRIES, {"Outlying-US(Guam-USVI-etc)"}),
    ("Hong,United-States,Honduras", COUNTRIES, {"Hong", "Honduras", "United-States"}),
    ("5th-6th,1st-4th", ["1st-4th", "5th-6th", "9th"], {"1st-4th", "5th-6th"}),
    ("Korea, South,Hong", ["Korea, South", "Hong", "South"], {"Korea, South", "Hong"}),
    ("a,b,c", ["a", "b,c", "c"], {"a", "b,c"}),
    (",x", ["y", "x"], {MISSING, "x"}),
    ("a,b", ["a", "b", "a,b"], None),
    ("Peru", COUNTRIES, None),
    ("hong", COUNTRIES, None),
    ("Hong;Honduras", COUNTRIES, None),
]


@pytest.mark.parametrize("text, names, values", LISTS)
def test_lists_of_known_names(text, names, values):
    """Names may hold commas, where there is one way to read a list"""
    tree = Taxonomy.from_dict({"*": names})
    if values is None:
        with pytest.raises(TextFormError, match="must be a list of names"):
            foreign_column([text], "x", "anonypy", taxonomy=tree)
        return
    assert cells_of(foreign_column([text], "x", "anonypy", taxonomy=tree).column) == (
        [ValueSet(values)] if len(values) > 1 else [Exact(*values)]
    )


def test_a_missing_value_in_a_list_of_anonypy():
    c = foreign_column([",a", "a,", "a"], "x", "anonypy")
    assert cells_of(c.column) == [ValueSet(["a", MISSING])] * 2 + [Exact("a")]


# ---------------------------------------------------------------- guesses

_pieces = ["20", "30", "-", "[", "[20, 30[", "*", "816**", "{a, b}", "a", "NA", ",", " ", "<", "é"]


@given(st.lists(st.lists(st.sampled_from(_pieces), max_size=3).map("".join), max_size=8))
@example(["NA", "*"])
@example(["{1, 2}", "1**"])
def test_a_guess_reads_all_or_nothing(texts):
    c = guess_column(texts, "x")
    if c is None:
        return
    got = cells_of(c.column)
    assert len(got) == len(texts) and c.example in texts
    assert [o is None for o in got] == [o == "" for o in texts]
    assert any(not isinstance(o, Exact) for o in got if o is not None) or "-" in c.example
    same = foreign_column(texts, "x", "sdcmicro" if c.kind == "numeric" else "arx", c.kind)
    assert cells_of(same.column) == got


NOT_GUESSED = {
    "plain numbers": ["1", "2", "3"],
    "plain words": ["a", "b", "NA", "NA"],
    "telephone numbers": ["555-1234", "555-4321", "555-9876"],
    "months": ["2020-01", "2020-01", "2020-12", "2020-12"],
    "dates": ["2020-01-31"] * 3,
    "a range and a word": ["[20, 30[", "[20, 30[", "unknown"],
    "lists with commas": ["a,b", "a,b", "b"],
    "masks of two lengths": ["81*", "81*", "816**", "816**"],
    "notes with a star": ["as told*", "as told*", "one"],
    "nodes": ["<a>", "<a>", "b"],
    "nothing": ["", ""],
}


@pytest.mark.parametrize("case", NOT_GUESSED)
def test_what_is_not_clear_stays_text(tmp_path, case):
    t = pd.DataFrame({"x": NOT_GUESSED[case], "y": "u"})
    t.to_csv(tmp_path / "t.csv", index=False)
    r = read_release(tmp_path / "t.csv")
    assert r.data.x.fillna("").tolist() == NOT_GUESSED[case] and not r.taxonomies


def test_a_guess_is_said_aloud(tmp_path):
    t = pd.DataFrame({"age": ["20-30"] * 3 + ["40", "NA"], "zip": ["816**"] * 4 + ["*"], "w": "u"})
    t.to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(GuessedFormWarning) as told:
        r = read_release(tmp_path / "t.csv")
    (text,) = [str(o.message) for o in told]
    assert text.startswith(
        "t.csv has no schema, so its cells were guessed: 'age' as numbers, with '20-30'; 'zip' as"
        " words, with '816**'. Say who"
    )
    assert [str(o) for o in cells_of(r.data.age)] == ["[20, 30]"] * 3 + ["40", "*"]
    assert r.taxonomies["zip"].name[0] == "*****" and r.data.w.tolist() == ["u"] * 5
    told = read_release(tmp_path / "t.csv", kinds={"age": "categorical", "zip": "categorical"})
    assert told.data.zip[0] == Exact("816**")
    assert read_release(tmp_path / "t.csv", format="ppdt").data.age.tolist() == t.age.tolist()


# ---------------------------------------------------------------- hierarchies


def test_names_of_a_hierarchy_become_sets(tmp_path):
    ages = "".join(f"{i};{i // 10 * 10}-{i // 10 * 10 + 9};*\n" for i in range(100))
    (tmp_path / "age.csv").write_text(ages)
    tree = Taxonomy.from_csv(tmp_path / "age.csv", "int64")
    (tmp_path / "t.csv").write_text("age;w\n20-29;u\n34;u\n*;u\n[50, 60[;u\n")
    r = read_release(tmp_path / "t.csv", format="arx", taxonomies={"age": tree}, sep=";")
    wanted = [ValueSet(range(20, 30)), Exact(34), Suppressed(), Interval(50, 60, True)]
    assert cells_of(r.data.age) == wanted and r.schema.columns[0]["kind"] == "numeric"
    assert not r.taxonomies  # sets say all
    with pytest.raises(
        TextFormError, match="row 1 after the header: The taxonomy '\\*' has no node"
    ):
        foreign_column(["old"], "age", "arx", taxonomy=tree)


def test_a_hierarchy_alone_says_enough(tmp_path):
    zips = Taxonomy.from_prefixes(["81667", "81675", "81925"])
    (tmp_path / "t.csv").write_text("zip,w\n816**,u\n81925,u\n")
    r = read_release(tmp_path / "t.csv", taxonomies={"zip": zips})
    assert cells_of(r.data.zip) == [ValueSet(["81667", "81675"]), Exact("81925")]


# ---------------------------------------------------------------- what is refused

REFUSED = {
    "another form": (dict(format="weka"), "'format' must be None or one of ppdt, arx"),
    "another column": (dict(taxonomies={"b": None}), "'taxonomies' must name columns"),
    "our form and a taxonomy": (dict(format="ppdt", taxonomies={"a": None}), "must be left out"),
    "two signs": (dict(sep=";;"), "'sep' must be one sign"),
    "a quote": (dict(sep='"'), "'sep' must be one sign"),
    "no encoding": (dict(encoding="klingon"), "'encoding' must be the name"),
    "no encoding of text": (dict(encoding="zip"), "'encoding' must be the name"),
    "words among numbers": (
        dict(format="arx", kinds={"a": "numeric"}),
        "after the header: 'old' is neither",
    ),
    "words among ranges": (dict(format="arx"), "Got both, '[20, 30[' and 'old'"),
    "another encoding": (dict(encoding="utf-16"), "must be utf-16"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(tmp_path, case):
    (tmp_path / "t.csv").write_text('a\n"[20, 30["\nold\n')
    with pytest.raises(ValueError, match=re.escape(REFUSED[case][1])):
        read_release(tmp_path / "t.csv", **REFUSED[case][0])


def test_codes_of_two_lengths_and_counts_that_are_none(tmp_path):
    with pytest.raises(TextFormError, match="'zip' must hold codes of one length"):
        foreign_column(["816**", "8166"], "zip", "arx")
    for n in ("0", "-1", "1.5", "", "9" * 10):
        with pytest.raises(TextFormError, match="is no count of rows"):
            one_row_each(pd.DataFrame({"x": ["a"], "count": [n]}))
    many = pd.DataFrame({"x": ["a"] * 2, "count": ["999999999"] * 2})
    with pytest.raises(TextFormError, match="must not exceed 10,000,000"):
        one_row_each(many)
    with trusted(distinct_cells=2):
        with pytest.raises(TextFormError, match="different cells of 'x'"):
            foreign_column(["a", "b", "c"], "x", "arx")
        assert guess_column(["*", "b", "c"], "x") is None


def test_a_form_for_a_file_with_a_schema(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n20-30,u\n20-30,v\n")
    read_release(tmp_path / "t.csv", format="arx").to_csv(tmp_path / "own.csv")
    for how in (dict(format="arx"), dict(taxonomies={"a": Taxonomy.from_dict({"*": ["u"]})})):
        with pytest.raises(ValueError, match="must be left out"):
            read_release(tmp_path / "own.csv", **how)
    assert cli.main(["audit", str(tmp_path / "own.csv"), "--qi", "a", "--format", "arx"]) == 2


# ---------------------------------------------------------------- ARX

ARX = "sex age race marital-status education native-country workclass occupation income".split()


@pytest.fixture(scope="module")
def adult(data_dir):
    """The complete rows of Adult: (training, test)"""

    def rows(name):
        t = pd.read_csv(data_dir / name, keep_default_na=False)
        return t[~t.isin(["", "?"]).any(axis=1)].reset_index(drop=True)

    return rows("adult_train.csv"), rows("adult_test.csv")


@pytest.fixture(scope="module")
def hierarchies(data_dir):
    """The hierarchies that ARX was given, by column"""
    folder = data_dir / "hierarchies" / "arx"
    dtypes = {"age": "int64"}
    return {o: Taxonomy.from_csv(folder / f"adult_{o}.csv", dtypes.get(o, "str")) for o in ARX}


def as_arx(t, hierarchies, levels, k):
    """The table that ARX publishes at a node of its lattice: global recoding, and all rows of a
    class below k suppressed
    """
    res = {}
    for o, level in zip(ARX, levels):
        up = {v: str(v) if not level else hierarchies[o].generalize(v, level) for v in set(t[o])}
        res[o] = t[o].map(up)
    res = pd.DataFrame(res)
    res[res.groupby(ARX)["sex"].transform("size") < k] = "*"
    return res


def stated(oracle_dir, k):
    """What the oracle says of ARX's global optimum with suppression, nine quasi-identifiers"""
    lines = (oracle_dir / "arx" / "EXPECTED.md").read_text("utf-8").splitlines()
    row = next(o for o in lines if o.startswith(f"| {k} | global, supp 100%"))
    _, _, _, _, _, _, levels, loss, rows, classes, mean, _ = row.split("|")
    n, least, _ = re.findall(r"[\d.]+", classes)
    levels = list(map(int, levels.split(",")))
    return levels, float(loss), int(rows), int(n), int(least), float(mean)


@pytest.mark.parametrize("k", [5, 50])
def test_what_arx_publishes_of_adult(oracle_dir, adult, hierarchies, tmp_path, k):
    levels, loss, suppressed, n_classes, least, mean = stated(oracle_dir, k)
    path = tmp_path / "arx.csv"
    as_arx(adult[0], hierarchies, levels, k).to_csv(path, sep=";", index=False)
    r = read_release(path, format="arx", taxonomies=hierarchies, sep=";")
    found = audit(r.data, ARX, k)
    assert (found.suppressed_rows, found.n_classes, found.k) == (suppressed, n_classes, least)
    assert found.holds and found.risk_mean == pytest.approx(n_classes / (30_162 - suppressed))
    losses = []
    for o in ARX:
        codes, held = cells(r.data[o])
        domain = encode(pd.Series(hierarchies[o].values), o != "age")[0]
        of_cell = np.array([cell_ncp(c, domain, "spread") for c in held])
        losses.append(of_cell[codes].mean())
    assert np.mean(losses) == pytest.approx(mean, abs=5e-5)
    assert np.prod(1 + np.array(losses)) ** (1 / 9) - 1 == pytest.approx(loss, abs=1e-9)
    # without the hierarchies the classes are the same, and ages are ranges
    alone = read_release(path, format="arx", sep=";")
    again = audit(alone.data, ARX, k)
    assert (again.suppressed_rows, again.n_classes, again.k) == (suppressed, n_classes, least)
    assert alone.schema.columns[1] == {"name": "age", "role": "other"} | dict(
        kind="numeric", dtype="int64"
    )
    words = audit(read_release(path, format="ppdt", sep=";").data, ARX, k)
    assert words.suppressed_rows == 0  # what was seen before


def test_a_tree_from_the_file_of_arx(oracle_dir, adult, hierarchies, tmp_path):
    """It answers raw rows better than the majority, and than one that takes cells for words"""
    path, test = tmp_path / "arx.csv", adult[1]
    levels = stated(oracle_dir, 5)[0]
    as_arx(adult[0][::5], hierarchies, levels, 5).to_csv(path, sep=";", index=False)
    qi = [o for o in ARX if o != "income"]

    def right(**how):
        r = read_release(path, sep=";", **how)
        y = r.data.income.map(str)
        tree = C45Classifier(min_samples_leaf=10).fit(r.data.loc[y != "*", qi], y[y != "*"])
        return (tree.predict(test[qi]) == test.income).mean()

    majority = (test.income == "<=50K").mean()
    got = right(format="arx", taxonomies=hierarchies)
    assert got > majority + 0.03
    with pytest.warns(UserWarning):
        assert right(format="ppdt") < got - 0.03


def test_the_seven_rows_of_arx(oracle_dir, tmp_path):
    """What its tests expect of a toy: 3 classes of 7 rows, the smallest of 2"""
    text = (oracle_dir / "arx" / "EXPECTED.md").read_text("utf-8")
    assert "age <50/>=50, gender *, zip 816**/819**; average risk 3/7, highest 1/2" in text
    ages, zips = [34, 45, 66, 70, 34, 70, 45], [81667, 81675, 81925, 81931, 81931, 81931, 81931]
    rows = [f"{'<50' if a < 50 else '>=50'};*;{str(z)[:3]}**" for a, z in zip(ages, zips)]
    (tmp_path / "toy.csv").write_text("\n".join(["age;gender;zip", *rows]))
    r = read_release(tmp_path / "toy.csv", format="arx", sep=";")
    found = audit(r.data, list(r.data), 2, taxonomies=r.taxonomies)
    assert (found.n_classes, found.risk_max, found.risk_mean) == (3, 0.5, 3 / 7)
    assert found.holds and found.suppressed_cells == 7
    X = pd.DataFrame({"age": ages, "gender": "m", "zip": list(map(str, zips))})
    codes = {"zip": Taxonomy.from_prefixes(X.zip)}
    whole = read_release(tmp_path / "toy.csv", format="arx", sep=";", taxonomies=codes)
    assert audit(whole.data, list(X), 2, original=X).truthful
    loss = ncp(whole.data, X, form="spread")
    # ages lie from 34 to 70; four codes, two of them below each node
    assert loss["gender"] == 1 and loss["zip"] == pytest.approx(1 / 3)
    assert loss["age"] == pytest.approx((4 * (50 - 34) + 3 * (70 - 50)) / 36 / 7)


# ---------------------------------------------------------------- anonypy and anonypyx


@pytest.mark.parametrize("tool", ["anonypy", "anonypyx"])
def test_what_anonypy_published_of_adult(oracle_dir, adult, tmp_path, tool):
    lines = (oracle_dir / "peers" / "PEERS.md").read_text("utf-8").splitlines()
    first = next(i for i, o in enumerate(lines) if o.startswith(f"| {tool} Mondrian"))
    fields = lines[first + 1].split("|")
    assert fields[2].strip() == "50"
    n_classes, least = map(int, re.findall(r"\d+", fields[5]))
    path = tmp_path / "theirs.csv"
    path.write_bytes(gzip.decompress((HERE / f"{tool}_adult_k50.csv.gz").read_bytes()))
    r = read_release(path, format="anonypy")
    train, test = adult
    qi = [o for o in r.data if o != "income"]
    found = audit(r.data, qi, 50)
    assert (found.n_rows, found.n_classes, found.k) == (30_162, n_classes, least)
    assert ncp(r.data[qi], train, qi, form="spread").mean() == pytest.approx(
        float(fields[7]), abs=5e-4
    )
    some = r.data.iloc[::6]
    tree = C45Classifier(min_samples_leaf=10).fit(some[qi], some.income)
    majority = (test.income == "<=50K").mean()
    assert (tree.predict(test[qi]) == test.income).mean() > majority + 0.01


# ---------------------------------------------------------------- sdcMicro


def test_a_suppressed_cell_of_sdcmicro_is_a_value_or_a_wildcard(oracle_dir, tmp_path):
    """The first case of CASES.md: both readings of the mark are told"""
    assert "region=['A']*5, status=[Single,Married" in (
        (oracle_dir / "peers" / "CASES.md").read_text("utf-8")
    )
    rows = [f"A,{o},30-49" for o in ("Single", "Married", "Married", "Single", "NA")]
    (tmp_path / "sdc.csv").write_text("\n".join(["region,status,age", *rows]))
    r = read_release(tmp_path / "sdc.csv", format="sdcmicro")
    assert cells_of(r.data.age) == [Interval(30, 49)] * 5
    found = audit(r.data, list(r.data), 2)
    assert (found.k, found.k_wildcard, found.suppressed_cells) == (1, 3, 1)


def test_a_tree_from_what_r_cuts(data_dir, tmp_path):
    """Columns cut as R's `cut` does, cells suppressed as `NA`"""
    t = pd.read_csv(data_dir / "pima.csv")
    cls = t.columns[-1]
    chosen = np.random.default_rng(0).random(t.shape) < 0.05
    public = pd.DataFrame(index=t.index)
    for i, o in enumerate(t.columns[:-1]):
        edges = np.unique(np.quantile(t[o], [0.2, 0.4, 0.6, 0.8]))
        parts = pd.cut(t[o], [-np.inf, *edges, np.inf]).astype(str)
        public[o] = parts.str.replace("inf", "Inf").mask(chosen[:, i], "NA")
    public[cls] = t[cls].astype(str)
    public.to_csv(tmp_path / "sdc.csv", index=False)
    r = read_release(tmp_path / "sdc.csv", {cls: "categorical"}, format="sdcmicro")
    qi = list(t.columns[:-1])
    assert audit(r.data, qi).suppressed_cells == chosen[:, :-1].sum()
    assert all(o["kind"] == "numeric" for o in r.schema.columns[:-1])
    train, test = slice(0, None, 2), slice(1, None, 2)
    tree = C45Classifier().fit(r.data[qi][train], r.data[cls][train])
    right = (tree.predict(t[qi][test]) == t[cls].astype(str)[test]).mean()
    assert right > t[cls].value_counts(normalize=True).max() + 0.03
