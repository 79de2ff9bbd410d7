"""C4.5 and ID3: the level-wise version against the textbook, and node by node against Weka's results."""
import gzip, itertools, json, warnings
import numpy as np, pandas as pd, pytest
from hypothesis import given, strategies as st
from sklearn.utils.estimator_checks import check_estimator
from ppdt.c45 import C45Classifier, ID3Classifier, PARTClassifier, error_estimate
from ppdt.fractions import _Cells, _grow
from ppdt.datasets import load_customers
from ppdt.generalization import Taxonomy
from ppdt.growing import ONE_VALUE, THRESHOLD, Tree
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import read_release
from ppdt.tables import Exact, Interval, Node, Suppressed, ValueSet, cell_column
from ppdt.pruning import _collapse, _prune, _textbook_c45
from ppdt.splits import _Rows
from ppdt.trees import j48_text

# ---- the fast version against the textbook

def random_column(rng, n, missing):
    "(codes, values, line) with ties, rare values, values that do not occur, and numbers that differ by less than 1e-5"
    size = int(rng.choice([1, 2, 3, 5, 15]))
    codes = rng.integers(0, size, n)
    numeric = rng.random() < .5
    if numeric:
        seen = np.unique(codes)
        codes = np.searchsorted(seen, codes)
        line = np.cumsum(rng.choice([1., 1., .3, 4e-6], len(seen)))
        values = line.tolist()
    else: values, line = [f"v{i}" for i in range(size)], None
    codes = codes.astype(np.int32)
    if missing: codes[rng.random(n) < .2] = -1
    return codes, values, line

def random_rows(seed):
    rng = np.random.default_rng(seed)
    n, k, missing = int(rng.integers(1, 80)), int(rng.integers(1, 4)), rng.random() < .5
    columns = [random_column(rng, n, missing) for _ in range(rng.integers(1, 5))]
    y = rng.integers(0, k, n)
    y = np.where((columns[0][0] % 2 == 0) & (rng.random(n) < .8), 0, y)
    weight = rng.choice([.5, 1., 2., 3.3], n) if rng.random() < .3 else None
    return _Rows([f"a{j}" for j in range(len(columns))], *map(list, zip(*columns)), list(range(k)), y, weight)

def differ(t, i, node, path="/"):
    "Where two trees differ first; nothing when they do not"
    if (t.attribute[i], t.kind[i], t.cut[i]) != (node.attribute, node.kind, node.cut) or not np.allclose(t.counts[i], node.counts, atol=1e-6): return path
    return next((o for b, s in enumerate(node.sons) if (o := differ(t, int(t.first[i]) + b, s, f"{path}{b}/"))), "")

@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 3]), st.booleans(), st.booleans(), st.booleans(), st.sampled_from([.25, .05, .5]))
def test_fast_is_textbook(seed, m, binary, prune, raising, confidence):
    d = random_rows(seed)
    t, leaves = _collapse(*_grow(d, m, binary))
    if prune: t = _prune(d, t, leaves, confidence, raising)
    assert differ(t, 0, _textbook_c45(d, m, binary, prune, confidence, raising)) == ""

# ---- sets of values against all combinations

def random_sets(seed):
    "A table with sets, and the table of all rows that it may stand for, weighted"
    rng = np.random.default_rng(seed)
    n, k, codes, values, line, sets = int(rng.integers(45, 70)), int(rng.integers(2, 4)), [], [], [], []
    for _ in range(rng.integers(1, 4)):
        size = int(rng.integers(2, 6))
        own = [np.sort(rng.choice(size, int(rng.integers(2, size + 1)), replace=False)) for _ in range(rng.integers(0, 4))]
        own = [(o, (w := rng.random(len(o)) + .1)/w.sum()) for o in own]
        c = rng.integers(0, size, n)
        if own: c = np.where(rng.random(n) < .3, size + rng.integers(0, len(own), n), c)
        if rng.random() < .4: c = np.where(rng.random(n) < .1, -1, c)
        codes.append(c); values.append(list(range(size))); sets.append(own)
        line.append(np.arange(size)*1. if rng.random() < .5 else None)
    y = np.where((codes[0] % 2 == 0) & (rng.random(n) < .7), 0, rng.integers(0, k, n))
    names, rows, ws, ys = [f"a{j}" for j in range(len(codes))], [], [], []
    for i in range(n):
        may = [[(c[i], 1.)] if c[i] < len(v) else list(zip(*o[c[i] - len(v)])) for c, v, o in zip(codes, values, sets)]
        for one in itertools.product(*may): rows.append([o[0] for o in one]); ws.append(np.prod([o[1] for o in one])); ys.append(y[i])
    return (_Cells(_Rows(names, codes, values, line, list(range(k)), y, np.ones(n)), sets, True, 0.),
            _Rows(names, list(np.array(rows, dtype=np.int32).T), values, line, list(range(k)), np.array(ys), np.array(ws)))

@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3]), st.booleans(), st.booleans(), st.booleans())
def test_sets_are_all_their_rows(seed, m, binary, prune, raising):
    a, b = trees = [(d, *_collapse(*_grow(d, m, binary))) for d in random_sets(seed)]
    a, b = [_prune(d, t, leaves, .25, raising) if prune else t for d, t, leaves in trees]
    assert (a.attribute.tolist(), a.kind.tolist(), a.cut.tolist()) == (b.attribute.tolist(), b.kind.tolist(), b.cut.tolist())
    np.testing.assert_allclose(a.counts, b.counts, atol=1e-6)

def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(20, 60, n), "job": rng.choice(list("abcd"), n), "town": rng.choice(["x", "y"], n)})
    return X, pd.Series(np.where((X.age > 40) ^ (X.job == "a") ^ (rng.random(n) < .1), "yes", "no"), name="class")

def as_cells(s):
    codes, values = pd.factorize(s, sort=True)
    return cell_column(codes, [Exact(o) for o in values.tolist()], index=s.index, name=s.name)

@pytest.mark.parametrize("prune", [False, True])
def test_exact_cells_are_values(prune):
    X, y = people()
    Z = X.assign(age=as_cells(X.age), job=as_cells(X.job))
    one, other = C45Classifier(prune=prune).fit(X, y), C45Classifier(prune=prune).fit(Z, y)
    assert str(one) == str(other)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(Z), atol=1e-12)

@pytest.mark.parametrize("recoding", ["set", "interval"])
@pytest.mark.parametrize("options", [dict(), dict(scoring="discount"), dict(weights="distribution"), dict(binary_splits=True, prune=False)])
def test_release_and_its_file(recoding, options, tmp_path):
    "A tree learnt from a release equals the one learnt from the file read back; shares of 1 for each row"
    X, y = people()
    release = MondrianAnonymizer(k=4, recoding=recoding).anonymize(X, y)
    release.to_csv(tmp_path/"r.csv")
    back = read_release(tmp_path/"r.csv")
    one, other = (C45Classifier(**options).fit(r.data, r.y).tree_ for r in (release, back))
    assert one.counts.tobytes() == other.counts.tobytes() and np.array_equal(one.threshold, other.threshold, equal_nan=True)
    clf = C45Classifier(**options).fit(release.data, release.y)
    np.testing.assert_allclose(clf.predict_proba(release.data).sum(axis=1), 1)
    assert clf.scoring == "discount" or (clf.predict(X) == y).mean() > .6

def test_interval_meets_threshold_by_width():
    X, y = pd.DataFrame({"a": [*range(0, 20, 2)]*2}), ["u"]*5 + ["v"]*5
    clf = C45Classifier(prune=False).fit(X, y*2)
    t = clf.tree_.threshold[0]
    asked = pd.DataFrame({"a": cell_column([0, 1, 2, 3, -1], [Interval(5, 25), Interval(0, 3), ValueSet({2, 4, 18}), Suppressed()])})
    left = (t - 5)/20
    np.testing.assert_allclose(clf.predict_proba(asked), [[left, 1 - left], [1, 0], [2/3, 1/3], [.5, .5], [.5, .5]], atol=1e-12)

def test_taxonomy_nodes():
    X, y = people()
    tax = Taxonomy.from_dict({"*": {"ab": ["a", "b"], "cd": ["c", "d"]}})
    X = X.assign(job=cell_column(np.array([{"a": 0, "b": 1, "c": 2, "d": 2}[o] for o in X.job]), [Exact("a"), Exact("b"), Node("cd")]))
    clf = C45Classifier(taxonomies={"job": tax}).fit(X, y)
    assert clf._domains_[1] == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="'taxonomies' must have"): C45Classifier().fit(X, y)

# ---- Weka's J48

@pytest.fixture(scope="module")
def weka(oracle_dir): return oracle_dir/"weka"

@pytest.fixture(scope="module")
def table(weka, oracle_dir, data_dir):
    "table(name): a table of schema.json, values in Weka's order, class last"
    schema, known = json.loads((weka/"schema.json").read_text("utf-8")), {}
    def read(csv): return pd.read_csv(data_dir/csv.removeprefix("shared/data/") if csv.startswith("shared/") else weka/csv, dtype=str, keep_default_na=False, skipinitialspace=True)
    def load(name):
        s = schema[name]
        t = pd.concat([read(o) for o in ([s["csv"]] if isinstance(s["csv"], str) else s["csv"])], ignore_index=True).replace({"?": ""})
        if s.get("rows_used") == "without missing": t = t[(t != "").all(axis=1)].reset_index(drop=True)
        t = t.where(t != "")
        return pd.DataFrame({a["name"]: t[a["name"]].astype(pd.CategoricalDtype(a["values"])) if a["type"] == "nominal" else pd.to_numeric(t[a["name"]]).astype(float) for a in s["attributes"]})
    def get(name):
        if name not in known: known[name] = load(name)
        return known[name].iloc[:, :-1], known[name].iloc[:, -1]
    return get

def classifier(options, **more):
    "The estimator that J48's options name"
    o = options.split()
    def value(name, default): return type(default)(o[o.index(name) + 1]) if name in o else default
    return C45Classifier(min_samples_leaf=value("-M", 2), confidence=value("-C", .25), prune="-U" not in o, subtree_raising="-S" not in o, binary_splits="-B" in o, thresholds="data", **more)

def children(tree):
    res = [[] for _ in range(len(tree))]
    for i, p in enumerate(tree.parent[1:].tolist(), 1): res[p].append(i)
    return res

def check_nodes(tree, weka, line):
    "Attributes, tests and class weights of all nodes"
    kids, stack = children(tree), [(0, weka)]
    while stack:
        i, w = stack.pop()
        if "leaf" in w:
            assert tree.attribute[i] < 0
            np.testing.assert_allclose(tree.counts[i], w["leaf"], rtol=1e-6, atol=1e-6)
            continue
        assert tree.attribute[i] == w["att"] and len(kids[i]) == len(w["sons"])
        if "split" in w: np.testing.assert_allclose(tree.threshold[i], w["split"], rtol=0, atol=1e-9)
        np.testing.assert_allclose(tree.counts[kids[i]], w["dist"], rtol=1e-6, atol=1e-6)
        stack += zip(kids[i], w["sons"])

def confusion(y, p): return pd.crosstab(y.cat.codes, p.argmax(axis=1)).reindex(index=range(p.shape[1]), columns=range(p.shape[1]), fill_value=0).to_numpy().tolist()

def j48_runs():
    import places
    folder = places.oracle_dir()
    return list(json.loads((folder/"weka/j48_summary.json").read_text("utf-8"))["runs"]) if folder else ["(none)"]

@pytest.fixture(scope="module")
def runs(weka): return json.loads(gzip.decompress((weka/"j48.json.gz").read_bytes()))["runs"]

@pytest.mark.parametrize("run", j48_runs())
def test_j48(run, runs, table):
    r = runs[run]
    X, y = table(r["dataset"])
    clf = classifier(r["options"]).fit(X, y)
    assert (clf.tree_.n_leaves, len(clf.tree_)) == (r["leaves"], r["size"])
    check_nodes(clf.tree_, r["tree"], X)
    if "text" in r: assert str(clf).strip() == r["text"].split("-\n", 1)[1].split("\n\nNumber of")[0].strip()
    if "-A" in r["options"]: return                    # the same tree; its predictions are smoothed, which no parameter asks for
    p = clf.predict_proba(X)
    assert confusion(y, p) == r["train"]["confusion"]
    if "dist_table" in r["train"]: np.testing.assert_allclose(p, np.array(r["train"]["dist_table"])[r["train"]["dist_index"]], atol=1e-9)
    if "test" in r:
        T, z = table(r["dataset"] + "_test")
        assert confusion(z, clf.predict_proba(T)) == r["test"]["confusion"]

def test_stored_trees(weka, runs):
    "The texts in the folder `trees`"
    named = {f"{r['dataset']}__{k.split('|')[1].replace('-', '').replace(' ', '')}": r for k, r in runs.items()}
    seen = 0
    for p in sorted((weka/"trees").glob("*.txt")):
        if p.stem.endswith("__Id3"): continue
        r = named[p.stem]
        assert r["text"].strip() in p.read_text("utf-8"), p.stem       # test_j48 compares with this text
        seen += 1
    assert seen > 150

def test_missing_values(weka):
    "Three worked examples of ten rows"
    for name, e in json.loads((weka/"missing_values.json").read_text("utf-8"))["examples"].items():
        def frame(rows):
            t = pd.DataFrame(rows, columns=[a["name"] for a in e["attributes"]][:len(rows[0])])
            return pd.DataFrame({a["name"]: t[a["name"]].astype(pd.CategoricalDtype(a["values"])) if a["type"] == "nominal" else t[a["name"]].astype(float) for a in e["attributes"] if a["name"] in t})
        t, asked = frame(e["train"]), frame(e["test"])
        X, y = t.iloc[:, :-1], t.iloc[:, -1]
        for options, r in e["runs"].items():
            clf = classifier(options).fit(X, y)
            check_nodes(clf.tree_, r["tree"], X)
            np.testing.assert_allclose(clf.predict_proba(X), r["train_distribution"], atol=1e-9, err_msg=f"{name} {options}")
            np.testing.assert_allclose(clf.predict_proba(asked), r["test_distribution"], atol=1e-9, err_msg=f"{name} {options}")

def halves(weka, name):
    for f in json.loads((weka/f"folds_{name}.json").read_text("utf-8"))["folds"]:
        half = np.array([int(o) for o in f["half_of_row"]])
        for test in 0, 1: yield np.flatnonzero(half != test), np.flatnonzero(half == test)

@pytest.mark.parametrize("name", ["german", "pima", "glass", "ionosphere", "crx", "tictactoe", "vehicle", "nursery", "waveform", "adult"])
def test_folds(name, weka, table):
    "J48 and unpruned J48 on ten halves: the same number of right answers and nodes"
    stored = json.loads((weka/"cv_5x2.json").read_text("utf-8"))["results"]["raw"][name]
    X, y = table({"german": "credit-g", "pima": "diabetes", "adult": "adult-all"}.get(name, name))
    for i, (train, test) in enumerate(halves(weka, name)):
        if name == "adult" and i > 1: break             # the rest by the same code: 50 s
        for options in [o for o in ("J48", "J48 -U") if o in stored]:
            clf = classifier(options).fit(X.iloc[train], y.iloc[train])
            right = int((clf.predict_proba(X.iloc[test]).argmax(axis=1) == y.iloc[test].cat.codes.to_numpy()).sum())
            assert (right, len(clf.tree_)) == (stored[options]["correct"][i], stored[options]["tree_size"][i]), (options, i)

def test_id3(weka, table):
    for name, r in json.loads((weka/"id3.json").read_text("utf-8"))["runs"].items():
        X, y = table(name)
        clf = ID3Classifier().fit(X, y)
        t = clf.tree_
        assert (len(t), t.n_leaves, int((t.n == 0).sum())) == (r["size"], r["leaves"], r["null_leaves"]), name
        assert confusion(y, clf.predict_proba(X)) == r["train"]["confusion"]
    T, z = table("adult-cat8_test")                      # the same tree as above: unclassified rows get the majority of the node
    assert (clf.predict(T) == z.astype(object).to_numpy()).sum() == 12270

# ---- Weka's PART

def part_runs():
    import places
    folder = places.oracle_dir()
    return list(json.loads(gzip.decompress((folder/"weka/part.json.gz").read_bytes()))["runs"]) if folder else ["(none)"]

@pytest.fixture(scope="module")
def parts(weka): return json.loads(gzip.decompress((weka/"part.json.gz").read_bytes()))["runs"]

@pytest.mark.parametrize("run", part_runs())
def test_part(run, parts, table):
    "Rules, printed list, confusion and distribution of each row"
    r, c = parts[run], classifier(parts[run]["options"])
    X, y = table(r["dataset"])
    clf = PARTClassifier(min_samples_leaf=c.min_samples_leaf, prune=c.prune, confidence=c.confidence, binary_splits=c.binary_splits, thresholds="data").fit(X, y)
    assert len(clf.rules_) == r["rules_n"]
    for ours, theirs in zip(clf.rules_, r["rules"] if "rules" in r else ()):
        assert [(t[0], t[3]) for t in ours.tests] == [(t["att"], t["branch"]) for t in theirs["tests"]]
        np.testing.assert_allclose(ours.counts, theirs["leaf"], atol=1e-6)
    if "text" in r: assert str(clf).strip() == r["text"].split("-\n", 1)[1].split("\n\nNumber of")[0].strip()
    p = clf.predict_proba(X)
    assert confusion(y, p) == r["train"]["confusion"]
    if "dist_table" in r["train"]: np.testing.assert_allclose(p, np.array(r["train"]["dist_table"])[r["train"]["dist_index"]], atol=1e-9)

@pytest.mark.parametrize("name", ["pima", "glass", "ionosphere", "crx"])
def test_part_folds(name, weka, table):
    stored = json.loads((weka/"cv_5x2.json").read_text("utf-8"))["results"]["raw"][name]["PART"]
    X, y = table({"pima": "diabetes"}.get(name, name))
    for i, (train, test) in enumerate(halves(weka, name)):
        clf = PARTClassifier(thresholds="data").fit(X.iloc[train], y.iloc[train])
        right = int((clf.predict_proba(X.iloc[test]).argmax(axis=1) == y.iloc[test].cat.codes.to_numpy()).sum())
        assert (right, len(clf.rules_)) == (stored["correct"][i], stored["rules"][i])

# ---- the 14 customers, and odd tables

def test_customers():
    t = load_customers()
    clf = C45Classifier(prune=False).fit(t.drop(columns="Bought"), t.Bought)
    assert str(clf).splitlines() == ["Gender = Female", "|   Marital = Married: Yes (2.0)", "|   Marital = Not Married: No (3.0)", "Gender = Male", "|   Marital = Married",
                                     "|   |   Age <= 65: Yes (2.0)", "|   |   Age > 65: No (3.0)", "|   Marital = Not Married: Yes (4.0/1.0)"]

def test_one_class_one_row_and_nothing_to_ask():
    for X, y in ((pd.DataFrame({"a": [1., 2, 3]}), ["u"]*3), (pd.DataFrame({"a": ["x"]}), ["u"]), (pd.DataFrame({"a": [1., 1, 1, 1], "b": list("xxxx")}), list("uvuv")), (pd.DataFrame({"a": [np.nan]*6}), list("uvuvuv"))):
        clf = C45Classifier().fit(X, y)
        assert len(clf.tree_) == 1 and clf.predict(X).tolist() == ["u"]*len(X)
        assert not clf.feature_importances_.any()

def test_unseen_category_and_order_of_columns():
    X = pd.DataFrame({"a": list("xxxyyyzzz")*2, "b": [1., 2, 3]*6})    # nine rows would be too few for three values
    y = list("uuuvvvuuu")*2
    clf = C45Classifier(min_samples_leaf=1, prune=False).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(pd.DataFrame({"b": [1., np.nan], "a": ["new", "y"]})), [[6/9, 3/9], [0, 1]])
    with pytest.raises(ValueError, match="Missing: b"): clf.predict(X[["a"]])

def test_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 9, 200).astype(float), "b": rng.choice(list("xyz"), 200), "c": rng.random(200).round(2)})
    y = np.where((X.a > 4) ^ (X.b == "x"), "u", "v")
    w = rng.integers(0, 4, 200)
    one, other = C45Classifier().fit(X, y, sample_weight=w), C45Classifier().fit(X.loc[X.index.repeat(w)], np.repeat(y, w))
    assert str(one) == str(other)

@given(st.integers(0, 2**32 - 1))
def test_order_of_rows_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    n = 40
    X = pd.DataFrame({"a": rng.choice([1., 2., 5., np.nan], n), "b": rng.choice(["x", "y", None], n), "c": rng.random(n).round(1)})
    y, w, p = rng.choice(["u", "v", "w"], n), rng.random(n), rng.permutation(n)
    one, other = C45Classifier().fit(X, y, sample_weight=w).tree_, C45Classifier().fit(X.iloc[p], y[p], sample_weight=w[p]).tree_
    assert np.array_equal(one.counts, other.counts) and np.array_equal(one.attribute, other.attribute) and np.array_equal(one.threshold, other.threshold, equal_nan=True)

@pytest.mark.parametrize("parameter", [dict(min_samples_leaf=0), dict(confidence=.7), dict(confidence=0), dict(prune=1), dict(thresholds="x")])
def test_parameters(parameter):
    with pytest.raises(ValueError, match=f"'{[*parameter][0]}' must be"): C45Classifier(**parameter).fit(pd.DataFrame({"a": [1., 2]}), ["u", "v"])

def test_bad_tables():
    X = pd.DataFrame({"a": [1., 2, 3]})
    with pytest.raises(ValueError, match="'y' must have no missing"): C45Classifier().fit(X, ["u", None, "v"])
    with pytest.raises(ValueError, match="finite"): C45Classifier().fit(X.replace(3, np.inf), list("uvu"))
    with pytest.raises(ValueError, match="must not be negative"): C45Classifier().fit(X, list("uvu"), sample_weight=[1, -1, 1])
    with pytest.raises(ValueError, match="must be categorical"): ID3Classifier().fit(X, list("uvu"))

@pytest.mark.parametrize("clf", [C45Classifier(), PARTClassifier()], ids=lambda o: type(o).__name__)
def test_sklearn_contract(clf):
    names = "names of columns are strings"
    exceptions = {"check_sample_weights_pandas_series": names, "check_classifier_data_not_an_array": names, "check_dtype_object": "the message is about cells that are no single values"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        res = check_estimator(clf, expected_failed_checks=exceptions, on_fail=None, on_skip=None)
    assert [o["check_name"] for o in res if o["status"] == "failed"] == []

def test_wide_table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (60, 2000)).astype(float), columns=[f"x{i}" for i in range(2000)])
    assert C45Classifier().fit(X, (X.x77 > 1).to_numpy()).predict(X).tolist() == (X.x77 > 1).tolist()

def chain(depth):
    "A tree of thresholds, one below the other"
    n = 2*depth + 1
    parent = np.array([-1] + [2*(i//2) for i in range(n - 1)])
    attribute = np.where((np.arange(n) % 2 == 0) & (np.arange(n) < n - 1), 0, -1)
    counts = np.tile([1., 2.], (n, 1))*np.linspace(2, 1, n)[:, None]
    return Tree(parent, attribute, np.zeros(n, dtype=int), np.where(attribute < 0, 0, THRESHOLD), np.where(attribute < 0, np.nan, np.arange(n)), np.array([-1] + [1, 0]*depth), counts, counts.sum(axis=1), ["a"], [["<=", ">"]], np.array(["u", "v"]))

def test_deep_chain():
    t = chain(10_000)
    assert j48_text(t).count("\n") == 19_999
