"""Taxonomies: random trees, files of other tools, wrong input, bins, codes, dates, Adult."""

import inspect
import pickle

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from ppdt import generalization
from ppdt.generalization import (
    ADULT_TAXONOMIES,
    Taxonomy,
    centroid_recoding,
    load_adult_taxonomies,
    node_recoding,
    plot_taxonomy,
    recode,
    suppression_recoding,
)
from ppdt.loss import cell_ncp, gcp, ncp
from ppdt.tables import (
    MISSING,
    Centroid,
    Exact,
    Interval,
    Node,
    Suppressed,
    TextFormError,
    ValueSet,
    encode,
    with_missing,
)

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)


@st.composite
def lines(draw):
    """Lines of a random tree, perhaps of unequal length, perhaps with names repeated for several
    levels; the leaves shuffled
    """
    label = iter(draw(st.lists(names, min_size=60, max_size=60, unique=True)))

    def grow(path, depth):
        if depth == 0 or len(found) > 12:
            found.append(path)
            return
        for _ in range(draw(st.integers(1, 3))):
            grow([next(label), *path], draw(st.integers(0, depth - 1)))

    found = []
    grow([next(label)], 3)
    found = [o for o in found if not any(o[0] in p[1:] for p in found)]
    return draw(st.permutations(found))


trees = lines().map(Taxonomy.from_lines)


def below(t, name):
    """Leaves below a node, by the paths of the leaves"""
    return {v for v in t.values if v == name or name in t.ancestors(v)}


# ---------- what holds for every tree
@given(lines())
def test_lines_are_the_paths_of_the_leaves(lines):
    t = Taxonomy.from_lines(lines)
    assert {(v, *t.ancestors(v)) for v in t.values} == set(map(tuple, lines))
    for i, n in enumerate(t.name):
        assert set(t.leaves(n)) == below(t, n) and list(t.leaves(n)) == list(
            t.values[t.begin[i] : t.end[i]]
        )
        assert (
            t.node(n) == i
            and all(t.ancestors(c)[0] == n for c in t.children(n))
            and t.depth[i] == len(t.ancestors(n))
        )


@given(trees)
def test_files_and_pickles_give_the_same_tree(tmp_path_factory, t):
    path = tmp_path_factory.mktemp("taxonomy") / "t.csv"
    t.to_csv(path)
    for u in (Taxonomy.from_csv(path), pickle.loads(pickle.dumps(t))):
        assert u == t and hash(u) == hash(t) and u.values == t.values and u.height == t.height


@given(trees)
def test_generalize_is_monotone_and_levels_are_cuts(t):
    for v in t.values:
        seen = [t.generalize(v, l) for l in range(t.height + 1)]
        assert seen[0] == v and seen[-1] == t.name[0]
        assert all(below(t, a) <= below(t, b) for a, b in zip(seen, seen[1:]))
    for l in range(t.height + 1):
        over = t.check_cut(t.cut(l))
        assert [t.name[i] for i in over] == [t.generalize(v, l) for v in t.values]


@given(trees, st.data())
def test_lca_is_the_lowest_cover(t, data):
    some = data.draw(st.lists(st.sampled_from(t.values), min_size=1))
    found = t.lca(some)
    covers = [n for n in t.name if set(some) <= below(t, n)]
    assert found in covers and all(n == found or n in t.ancestors(found) for n in covers)


@given(trees, st.data(), st.booleans())
def test_node_recoding_covers_each_group_as_lca_does(t, data, missing):
    value = st.sampled_from(t.values) | st.none() if missing else st.sampled_from(t.values)
    rows = data.draw(st.lists(st.tuples(value, st.integers(0, 4)), min_size=1, max_size=30))
    s, groups = (
        pd.Series([v for v, _ in rows], dtype=object),
        pd.factorize(np.array([g for _, g in rows]))[0],
    )
    a, codes = with_missing(*encode(s))
    where, cs = node_recoding(a, codes, groups, t)
    assert len(set(cs)) == len(cs) and set(where) == set(range(len(cs)))
    for g in set(groups):
        (cell,) = {cs[i] for i in where[groups == g]}
        inside = {a.items[c] for c in codes[groups == g]}
        if MISSING in inside or len(inside) == 1:
            assert cell == ValueSet(inside)
        else:
            node = t.lca(inside)
            assert (
                cell == Node(node)
                and inside <= set(t.leaves(node))
                and inside <= set(t.leaves(cell))
            )


@given(trees, st.sampled_from(["size", "spread"]))
def test_loss_of_nodes_counts_leaves(t, form):
    a, d = encode(pd.Series(t.values, dtype=object))[0], len(t.values)
    for n in t.name:
        s = len(below(t, n))
        wanted = 0 if s == 1 else s / d if form == "size" else (s - 1) / (d - 1)
        assert cell_ncp(Node(n), a, form, t) == pytest.approx(wanted)
        assert cell_ncp(Node(n), a, form, t) == pytest.approx(
            cell_ncp(ValueSet(t.leaves(n)), a, form)
        ), "all leaves occur"


@given(lines())
def test_levels_of_repeated_names(lines):
    """A line filled up with repeated names keeps the levels of its columns, read and written"""
    longest = max(map(len, lines))
    padded = [[o[0]] * (longest - len(o)) + list(o) for o in lines]
    t = Taxonomy.from_lines(padded)
    assert t == Taxonomy.from_lines(lines)
    for o in padded:
        assert [t.generalize(o[0], l) for l in range(longest)] == o


# ---------- repeated names
def test_a_name_repeated_above_the_leaf():
    t = Taxonomy.from_lines([["a", "A", "A", "*"], ["b", "B", "C", "*"], ["c", "*", "*", "*"]])
    assert [t.cut(l) for l in range(4)] == [
        ("a", "b", "c"),
        ("A", "B", "c"),
        ("A", "C", "c"),
        ("*",),
    ]
    assert t.height == 3 and t.ancestors("a") == ("A", "*")


def test_one_value():
    for t in (Taxonomy.from_lines([["a"]]), Taxonomy.from_dict({"a": None})):
        assert (t.values, t.height, t.cut(0), t.lca("a")) == (("a",), 0, ("a",), "a")


# ---------- wrong input
WRONG = {
    "no line": ([], ["'lines'", "Got none"]),
    "two roots": ([["a", "X"], ["b", "Y"]], ["one root", "'X', 'Y'"]),
    "two parents": (
        [["a", "A", "X", "*"], ["b", "A", "Y", "*"]],
        ["Line 2", "'A' under 'Y'", "'X'"],
    ),
    "root below": ([["a", "A", "*"], ["b", "*", "R"]], ["Line 2", "'*' under 'R'", "one root"]),
    "leaf twice": (
        [["a", "A", "*"], ["b", "A", "*"], ["a", "B", "*"]],
        ["Line 3", "leaf 'a' of line 1"],
    ),
    "leaf is a node": ([["a", "A", "*"], ["A", "*"]], ["Line 2", "leaf 'A'", "rename"]),
    "empty name": ([["a", "", "*"]], ["Line 1", "empty name"]),
    "empty value": ([["", "A", "*"]], ["Line 1", "empty name"]),
    "cycle in a line": ([["a", "A", "B", "A"]], ["Line 1", "cycle"]),
    "cycle": ([["a", "A", "B"], ["b", "B", "A"]], ["Line 2"]),
}


@pytest.mark.parametrize("lines, words", WRONG.values(), ids=WRONG)
def test_wrong_lines(lines, words, tmp_path):
    with pytest.raises(ValueError) as e:
        Taxonomy.from_lines(lines)
    assert all(o in str(e.value) for o in words), e.value
    if not lines:
        return
    (tmp_path / "t.csv").write_text("\n".join(map(";".join, lines)) + "\n", "utf-8")
    with pytest.raises(ValueError) as f:
        Taxonomy.from_csv(tmp_path / "t.csv")
    told = str(f.value).removeprefix("t.csv").lstrip(":, ")
    assert told[0].upper() + told[1:] == str(e.value)


def test_wrong_dicts_and_arrays():
    loop = {}
    loop["a"] = loop
    with pytest.raises(ValueError, match="cycle"):
        Taxonomy.from_dict(loop)
    with pytest.raises(ValueError, match="one root"):
        Taxonomy.from_dict({"a": ["b"], "c": ["d"]})
    with pytest.raises(ValueError, match="text 'bc'"):
        Taxonomy.from_dict({"a": "bc"})
    for parent, name, word in (
        ([], [], "begin with -1"),
        ([-1, 2, 0], list("abc"), "downwards"),
        ([-1, 0], ["a"], "one name"),
        ([-1, 0], ["a", "a"], "once"),
        ([-1, 0], ["a", ""], "empty"),
    ):
        with pytest.raises(ValueError, match=word):
            Taxonomy(parent, name)
    with pytest.raises(ValueError, match="'level'"):
        Taxonomy([-1, 0], ["a", "b"], level=[0, 0])


def test_wrong_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="leaf;...;root"):
        Taxonomy.from_csv(tmp_path / "none.csv")
    (tmp_path / "t.csv").write_bytes(b"\xff\xfe;*\n")
    with pytest.raises(TextFormError, match="t.csv must be UTF-8"):
        Taxonomy.from_csv(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("x;*\n", "utf-8")
    with pytest.raises(TextFormError, match="'x' is not a number"):
        Taxonomy.from_csv(tmp_path / "t.csv", "int64")
    (tmp_path / "t.csv").write_text("[0, 5];*\n", "utf-8")
    with pytest.raises(TextFormError, match="first field"):
        Taxonomy.from_csv(tmp_path / "t.csv", "int64")


work = Taxonomy.from_dict(
    {
        "*": {
            "Employed": ["Private", "State"],
            "Self-employed": ["Own shop", "Own firm"],
            "Unpaid": None,
        }
    }
)


def test_wrong_questions():
    for f in (
        work.leaves,
        work.children,
        work.ancestors,
        lambda o: work.generalize(o, 1),
        lambda o: work.lca([o]),
    ):
        with pytest.raises(ValueError, match="no node 'Retired'.* Private, State"):
            f("Retired")
    for level in (-1, 3, 1.5, "1", None):
        with pytest.raises(ValueError, match="from 0 .* to 2"):
            work.generalize("State", level)
    with pytest.raises(ValueError, match="at least one"):
        work.lca([])
    with pytest.raises(ValueError, match="share values"):
        work.check_cut(["*", "State"])
    with pytest.raises(ValueError, match="none over 'State'"):
        work.check_cut(["Private", "Self-employed", "Unpaid"])
    a, _ = encode(pd.Series(["State", *"abcdefg"], name="work"))
    with pytest.raises(ValueError, match="'work'.*'a', 'b', 'c', 'd', 'e' and 2 more"):
        work.check_covers(a)
    a, codes = encode(pd.Series(["State", "Employed"], name="work"))
    with pytest.raises(ValueError, match="none for 'Employed'"):
        node_recoding(a, codes, [0, 0], work)


def test_immutable():
    with pytest.raises(AttributeError):
        work.name = ()
    with pytest.raises(ValueError):
        work.parent[0] = 3


def test_constructors_are_class_methods():
    """An editor lists them after `Taxonomy.from_`, and they are no names of the module"""
    ways = [o for o in dir(Taxonomy) if o.startswith("from_")]
    kinds = ["csv", "dates", "dict", "edges", "lines", "prefixes", "quantiles"]
    assert ways == [f"from_{o}" for o in kinds]
    for name in ways:
        assert isinstance(inspect.getattr_static(Taxonomy, name), classmethod)
        assert not hasattr(generalization, name)
        assert "Returns" in getattr(Taxonomy, name).__doc__
    assert generalization.Taxonomy is Taxonomy and "Taxonomy" in generalization.__all__


def test_places_of_values_among_the_leaves():
    places = work.leaf_places(["Unpaid", "Private", "Employed", "x", MISSING])
    assert places.tolist() == [4, 0, -1, -1, -1]
    t = Taxonomy.from_lines([["1", "*"], ["2", "*"]])
    assert t.leaf_places([2, "2", 1.0]).tolist() == [1, 1, -1]


# ---------- numbers, prefixes, dates
@given(st.lists(st.integers(-20, 119), min_size=1), st.data())
def test_bins_hold_their_values(values, data):
    fine = range(-20, 121, 10)
    t = Taxonomy.from_edges(values, fine, [-20, 0, 60, 120])
    assert t.values == tuple(sorted(set(values))) and t.height == 3
    for n, cell in zip(t.name, t.cells):
        if isinstance(cell, Interval):
            assert all(cell.lo <= v < cell.hi for v in t.leaves(n))
    a, codes = encode(pd.Series(values))
    groups = pd.factorize(
        np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values))))
    )[0]
    where, cs = node_recoding(a, codes, groups, t)
    for v, i in zip(values, where):
        c = cs[i]
        assert v in c.values if isinstance(c, Exact) else c == Node("*") or c.lo <= v < c.hi


def test_numbers_find_leaves_of_text_and_of_other_kinds(data_dir):
    t = Taxonomy.from_csv(data_dir / "hierarchies/arx/adult_age.csv")
    for dtype in ("int64", "int32", "Int64"):
        a, codes = encode(pd.Series([17, 18, 40, 90], dtype=dtype))
        where, cs = node_recoding(a, codes, [0, 0, 1, 2], t)
        assert [cs[i] for i in where] == [Node("15-19")] * 2 + [Exact(40), Exact(90)]
    numbers = Taxonomy.from_csv(data_dir / "hierarchies/arx/adult_age.csv", "int64")
    assert numbers.values[16] == 17 and numbers.lca([17, 18.0]) == "15-19"


def test_wrong_edges():
    for edges, word in (
        ([[0, 5]], "Got 5 outside"),
        ([[0, 7]], "Got 7 outside"),
        ([[0]], "two or more"),
        ([[0, 10, 5]], "grow"),
        ([[0, 5, 10], [0, 6, 10]], "Got 6"),
    ):
        with pytest.raises(ValueError, match=word):
            Taxonomy.from_edges([1, 5, 7], *edges)
    with pytest.raises(ValueError, match="'values' must hold numbers"):
        Taxonomy.from_edges(["a"], [0, 1])
    for bins in (0, 1.5, True):
        with pytest.raises(ValueError, match="'bins'"):
            Taxonomy.from_quantiles([1, 2], bins)


@given(
    st.lists(st.one_of(st.integers(0, 9), st.just(None)), min_size=1).filter(
        lambda o: set(o) != {None}
    ),
    st.integers(1, 6),
)
def test_quantile_bins(values, bins):
    t = Taxonomy.from_quantiles(values, bins)
    known = [v for v in values if v is not None]
    assert t.values == tuple(sorted(set(known))) and len(t.children("*")) <= bins
    assert (
        t.cells[1].lo == -np.inf and max(c.hi for c in t.cells if isinstance(c, Interval)) == np.inf
    )


def test_quantiles_share_rows_evenly():
    v = np.random.default_rng(0).normal(size=1000)
    t = Taxonomy.from_quantiles(v, 4)
    assert [len(t.leaves(o)) for o in t.children("*")] == [250] * 4


def test_prefixes():
    t = Taxonomy.from_prefixes(pd.Series(["81667", "81675", "81667", None]))
    assert t.lca(["81667", "81675"]) == "816**" and t.height == 5 and t.name[0] == "*****"
    for values, mask, word in (
        (["1", "22"], "*", "one length"),
        ([1, 2], "*", "texts"),
        (["1*"], "*", "'mask'"),
        (["12"], "xx", "'mask'"),
        ([""], "*", "one length"),
        ([], "*", "texts"),
    ):
        with pytest.raises(ValueError, match=word):
            Taxonomy.from_prefixes(values, mask)


def test_dates(tmp_path):
    s = pd.Series(
        pd.to_datetime(["2024-02-29", "2024-03-01", "2024-05-05", "2023-12-31", None]), name="d"
    )
    t = Taxonomy.from_dates(s)
    assert (
        t.ancestors(s[0]) == ("2024-02", "2024-Q1", "2024", "*") and t.lca([s[0], s[2]]) == "2024"
    )
    t.to_csv(tmp_path / "d.csv")
    assert Taxonomy.from_csv(tmp_path / "d.csv", "datetime64[ns]") == t
    X = s[:4].to_frame()
    assert [str(c) for c in recode(X, [0, 0, 1, 1], "node", taxonomies={"d": t}).d] == [
        "<2024-Q1>"
    ] * 2 + ["<*>"] * 2
    assert Taxonomy.from_dates(s, ["year"]).height == 2
    for levels in ((), ("year", "month"), ("day",)):
        with pytest.raises(ValueError, match="'levels'"):
            Taxonomy.from_dates(s, levels)
    with pytest.raises(ValueError, match="dates"):
        Taxonomy.from_dates(["x"])


# ---------- files of other tools, and our own
def test_reads_all_stored_hierarchies(data_dir, tmp_path):
    paths = sorted((data_dir / "hierarchies").rglob("*.csv"))
    assert len(paths) == 23
    for p in paths:
        t, rows = Taxonomy.from_csv(p), [o.split(";") for o in p.read_text("utf-8").splitlines()]
        assert (
            len(t.values) == len(rows) and t.name[0] == "*" and t.height == max(map(len, rows)) - 1
        )
        assert all([v, *t.ancestors(v)] == r for r in rows for v in r[:1])
        if len(set(map(len, rows))) == 1:
            assert all([t.generalize(r[0], l) for l in range(len(r))] == r for r in rows)
        t.to_csv(tmp_path / "t.csv")
        assert Taxonomy.from_csv(tmp_path / "t.csv") == t


@pytest.fixture(scope="module")
def adult(data_dir):
    read = dict(keep_default_na=False, na_values=[""])
    return pd.concat([pd.read_csv(data_dir / f"adult_{o}.csv", **read) for o in ("train", "test")])


def test_our_taxonomies_cover_adult(adult, data_dir):
    ours = load_adult_taxonomies()
    assert tuple(ours) == ADULT_TAXONOMIES
    for o, t in ours.items():
        assert set(t.values) == set(adult[o].dropna()) and t.height >= 1
        for other in (data_dir / "hierarchies").rglob(f"adult_{o}.csv"):
            u = Taxonomy.from_csv(other)
            inner = lambda x: {n for n, c in zip(x.name, x.cells) if isinstance(c, Node)}
            assert not inner(t) & inner(u), "names of our own"
            if o not in ("sex", "race"):
                assert t.height != u.height or {frozenset(t.leaves(n)) for n in inner(t)} != {
                    frozenset(u.leaves(n)) for n in inner(u)
                }


def test_adult_recoded_by_nodes(adult):
    X, ours = (
        adult[list(ADULT_TAXONOMIES)].dropna()[:3000].reset_index(drop=True),
        load_adult_taxonomies(),
    )
    t = recode(X, np.arange(3000) // 6, "node", taxonomies=ours)
    for form in ("size", "spread"):
        loss = ncp(t, X, taxonomies=ours, form=form)
        assert loss.between(0, 1).all() and loss.sex > 0.5
    assert gcp(t, X, taxonomies=ours) == pytest.approx(ncp(t, X, taxonomies=ours).mean())
    with pytest.raises(ValueError, match="'taxonomies'"):
        ncp(t, X)


# ---------- drawing
@pytest.mark.parametrize("small", [False, True])
def test_plot(small):
    for t in load_adult_taxonomies().values():
        ax = plot_taxonomy(t, cut=t.cut(1), ax=plt.subplots(figsize=(4, 3))[1] if small else None)
        texts = {o.get_text(): o for o in ax.texts}
        assert set(texts) == set(t.name) and {
            n for n, o in texts.items() if o.get_bbox_patch()
        } == set(t.cut(1))
        if not small:
            ax.figure.canvas.draw()
            boxes = [o.get_window_extent() for o in ax.texts]
            assert not any(
                a.overlaps(b)
                for i, a in enumerate(boxes)
                for b in boxes[:i]
                if abs(a.y0 - b.y0) > 1e-6 or a.x0 != b.x0
            ), "names do not overlap"
            assert all(b.x0 >= 0 and b.x1 <= ax.figure.bbox.x1 for b in boxes)
        plt.close(ax.figure)
    with pytest.raises(ValueError, match="'cut'"):
        plot_taxonomy(work, cut=["State"])
    plt.close("all")


# ---------- suppression, centroids, and recode
@st.composite
def numbers(draw):
    rows = draw(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=1, max_size=30))
    return pd.Series([v for v, _ in rows]), pd.factorize(np.array([g for _, g in rows]))[0]


@given(numbers())
def test_suppression_and_centroids_by_pandas(rows):
    s, groups = rows
    a, codes = encode(s)
    one = s.groupby(groups).transform("nunique") == 1
    where, cs = suppression_recoding(a, codes, groups)
    assert [cs[i] for i in where] == [Exact(v) if o else Suppressed() for v, o in zip(s, one)]
    ways = {
        "mean": "mean",
        "median": lambda v: v.quantile(0.5, interpolation="lower"),
        "mode": lambda v: v.mode()[0],
    }
    for how, f in ways.items():
        where, cs = centroid_recoding(a, codes, groups, how)
        assert len(set(cs)) == len(cs)
        wanted = s.groupby(groups).transform(f)
        for i, v, o in zip(where, wanted, one):
            assert type(cs[i]) is (Exact if o else Centroid) and cs[i].value == pytest.approx(v)


def test_centroids_of_other_kinds():
    a, codes = encode(pd.Series(["b", "a", "b", "a"]))
    assert centroid_recoding(a, codes, [0] * 4)[1] == [Centroid("a")]
    a, codes = encode(pd.Series(pd.to_datetime(["2024-01-01", "2024-01-05"]), name="d"))
    assert centroid_recoding(a, codes, [0, 0], "median")[1] == [
        Centroid(pd.Timestamp("2024-01-01"))
    ]
    with pytest.raises(ValueError, match="dates.*'mean' for column 'd'"):
        centroid_recoding(a, codes, [0, 0])
    with pytest.raises(ValueError, match="'how'.*'max'"):
        centroid_recoding(a, codes, [0, 0], "max")
    a, codes = with_missing(*encode(pd.Series([1.0, 2.0, np.nan], name="x")))
    with pytest.raises(ValueError, match="column 'x'.*missing"):
        centroid_recoding(a, codes, [0] * 3)
    assert centroid_recoding(a, codes, [0] * 3, "mode")[1] == [Centroid(1.0)]
    assert suppression_recoding(a, codes, [0, 0, 1])[1] == [Exact(MISSING), Suppressed()]


def test_no_rows():
    a, codes = encode(pd.Series([], dtype="str"))
    for f in (suppression_recoding, centroid_recoding):
        assert f(a, codes, [])[1] == []
    assert node_recoding(a, codes, [], work)[1] == []


def test_recode_with_nodes():
    X = pd.DataFrame(
        {
            "work": ["State", "Private", "Unpaid", "Unpaid"],
            "age": [20, 30, 40, 50],
            "sex": list("FMFF"),
        }
    )
    t = recode(X, [0, 0, 1, 1], "node", taxonomies={"work": work})
    assert (
        t.astype(str).to_numpy().tolist()
        == [["<Employed>", "[20, 30]", "{F, M}"]] * 2 + [["Unpaid", "[40, 50]", "F"]] * 2
    )
    assert (
        recode(X, [0, 0, 1, 1], "suppression").astype(str).to_numpy().tolist()
        == [["*"] * 3] * 2 + [["Unpaid", "*", "F"]] * 2
    )
    assert (
        recode(X, [0, 0, 1, 1], "centroid").astype(str).to_numpy().tolist()
        == [["~Private", "~25.0", "~F"]] * 2 + [["Unpaid", "~45.0", "F"]] * 2
    )
    for kw, word in (
        (dict(recoding="node"), "'taxonomies' must be given"),
        (dict(taxonomies={"work": work}), "only for it"),
        (dict(recoding="node", taxonomies={"job": work}), "Got 'job'"),
        (dict(recoding="node", taxonomies={"work": work, "other": work}), "Got 'other'"),
    ):
        with pytest.raises(ValueError, match=word):
            recode(X, [0, 0, 1, 1], **kw)


def test_loss_of_categories_that_are_binned_numbers():
    X = pd.DataFrame({"x": [1, 2, 7, 8]})
    t = Taxonomy.from_edges(X.x, [0, 5, 10])
    for categorical, wanted in (((), (4 / 7 + 3 / 7) / 2), (("x",), 0.5)):
        published = recode(X, [0, 0, 1, 1], "node", categorical, {"x": t})
        assert [str(c) for c in published.x] == ["[0, 5)"] * 2 + ["[5, 10)"] * 2
        assert gcp(published, X, categorical=categorical, taxonomies={"x": t}) == pytest.approx(
            wanted
        )


# ---------- what travels
@pytest.mark.parametrize(
    "make, public",
    [
        (lambda **p: Taxonomy.from_lines([["a", "*"]], **p), True),
        (lambda **p: Taxonomy.from_dict({"*": ["a"]}, **p), True),
        (lambda **p: Taxonomy.from_edges([1, 5], [0, 10], **p), False),
        (lambda **p: Taxonomy.from_quantiles([1, 5], 2, **p), False),
        (lambda **p: Taxonomy.from_prefixes(["12", "34"], **p), False),
        (lambda **p: Taxonomy.from_dates(["2024-01-01"], **p), False),
    ],
    ids=["lines", "dict", "edges", "quantiles", "prefixes", "dates"],
)
def test_makers_that_read_a_column_are_not_public(tmp_path, make, public):
    assert make().public is public
    for said in (True, False):
        t = make(public=said)
        assert t.public is said and t == make() and t.is_whole
        assert pickle.loads(pickle.dumps(t)).public is said
        assert (t.shown_by([Node(t.name[0])]) is t) is said
    make().to_csv(tmp_path / "t.csv")
    assert Taxonomy.from_csv(tmp_path / "t.csv").public
    assert not Taxonomy.from_csv(tmp_path / "t.csv", public=False).public


@given(data=st.data())
def test_shown_by_names_nodes_that_are_shown_and_those_above(data):
    codes = data.draw(st.lists(st.text("12", min_size=3, max_size=3), min_size=1, max_size=6))
    t = Taxonomy.from_prefixes(codes)
    shown = data.draw(st.lists(st.sampled_from(t.cells), unique=True))
    told = t.shown_by(shown)
    leaves = {c for c in shown if isinstance(c, Exact)}
    assert {told.cells[i] for i, u in zip(told.leaf, told.unnamed) if not u} == leaves
    above = {o for c in shown for o in t.ancestors(c)} | {t.name[t.node(c)] for c in shown}
    named = {told.name[i] for i in range(len(told)) if i not in set(told.leaf[told.unnamed])}
    assert named == (above or {t.name[0]})
    for c in shown:
        i, j = t.node(c), told.node(c)
        assert t.level[i] == told.level[j] and told.height == t.height
        assert isinstance(c, Exact) or c.name in told.leaves(c)
        whole = told.values_of(c)
        assert (whole is None) == (j == 0 and not told.is_whole)
    again = Taxonomy.from_lines(told.to_lines())
    assert again == told and again.shown_by(shown) is again


def test_bins_of_quantiles_that_end_at_a_hidden_value_are_left_out():
    t = Taxonomy.from_quantiles([1, 2, 3, 4, 5, 6], 3)
    assert t.shown_by([Exact(1), Node("*")]).to_lines() == [[None, None, "*"], ["1", "*"]]
    kept = t.shown_by([Interval(3.0, 5.0, True)]).to_lines()
    assert kept == [[None, "[3.0, 5.0)", "*"]]
    both = t.shown_by([Exact(1), Exact(3)]).to_lines()
    assert both == [["1", "[-inf, 3.0)", "*"], ["3", "*"]]


def test_what_a_part_of_a_taxonomy_cannot_do():
    t = Taxonomy.from_prefixes(["12", "13", "24"]).shown_by([Node("1*")])
    assert t.values == ("1*",) and t.values_of("**") is None and t.values_of("1*") == ("1*",)
    with pytest.raises(ValueError, match="what a release told of a taxonomy .* give the whole one"):
        t.check_covers(encode(pd.Series(["12", "13"], name="code"))[0])
    with pytest.raises(ValueError, match="must name all its values to be written"):
        t.to_csv("anywhere.csv")
    with pytest.raises(ValueError, match="give the whole taxonomy of column 'code'"):
        a = encode(pd.Series(["12", "13"], name="code"))[0]
        cell_ncp(Node("1*"), a, taxonomy=t)
    for lines in ([[None]], [[None, None]], [["a", None, "*"]], [[None, "a", None, "*"]]):
        with pytest.raises(ValueError, match="None only at its begin"):
            Taxonomy.from_lines(lines)
    with pytest.raises(ValueError, match="leave missing values out"):
        Taxonomy.from_dict({"*": ["a", None]})
