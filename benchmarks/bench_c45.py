"""C45Classifier and PARTClassifier on Adult: seconds to learn and to classify, beside scikit-learn's CART on ordinal codes.

Fourteen attributes, with and without rows that miss a value, unpruned and pruned. Then growth with the number of rows, made by drawing rows of Adult
again with their numbers moved a little (a column of a million different numbers), and the memory for it. Median of some runs in one process, one thread."""
import common                                   # first: one thread
import sys, tempfile, time, tracemalloc
from pathlib import Path
import numpy as np, pandas as pd
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier
from ppdt.c45 import C45Classifier, PARTClassifier
from ppdt.datasets import fetch_adult, make_population

SECONDS = "c45.csv"

def timed(f):
    "(seconds, seconds of CPU, result)"
    t, c = time.perf_counter(), time.process_time()
    res = f()
    return time.perf_counter() - t, time.process_time() - c, res

def one(make, X, y, asked, runs):
    "(median seconds of fit and predict, the model)"
    fits, predicts = [], []
    for _ in range(runs):
        *t, model = timed(lambda: make().fit(X, y)); fits.append(t)
        predicts.append(timed(lambda: model.predict(asked))[:2])
    return {name: round(common.median([t[i] for t in ts]), 4) for ts, names in ((fits, ("fit", "fit_cpu")), (predicts, ("predict", "predict_cpu"))) for i, name in enumerate(names)}, model

def categories(t): return t.astype({o: "category" for o in t if not pd.api.types.is_numeric_dtype(t[o])})

def codes(t):
    "Ordinal codes for scikit-learn, missing values as they are"
    words = [o for o in t if not pd.api.types.is_numeric_dtype(t[o])]
    return np.column_stack([OrdinalEncoder().fit_transform(t[words]), t[[o for o in t if o not in words]]]) if words else t.to_numpy()

def many(t, n, rng):
    "n rows drawn from a table; the first numeric column gets about as many different values as rows"
    res = t.iloc[rng.integers(0, len(t), n)].reset_index(drop=True)
    number = next(o for o in ("fnlwgt", *t) if o in t and pd.api.types.is_numeric_dtype(t[o]))
    return res.assign(**{number: res[number] + rng.random(n)})

def run(tables, sizes, runs, part):
    "Rows of results"
    res = []
    def note(table, learner, rows, found, size):
        res.append(dict(table=table, learner=learner, rows=rows, runs=runs, **found, size=size, load=common.load()))
        print(f"  {table:10} {learner:18} {rows:9,} rows  fit {found['fit']:8.3f} s  predict {found['predict']:7.3f} s", flush=True)
    for name, (X, y) in tables.items():
        X = categories(X)
        for learner, prune in (("C4.5 unpruned", False), ("C4.5 pruned", True)):
            found, model = one(lambda: C45Classifier(prune=prune), X, y, X, runs)
            note(name, learner, len(X), found, len(model.tree_))
        C = codes(X)
        found, model = one(lambda: DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0), C, y, C, runs)
        note(name, "scikit-learn CART", len(X), found, model.tree_.node_count)
    if part:
        half = X.iloc[::2], y.iloc[::2]
        found, model = one(PARTClassifier, *half, X, 1)
        note(name, "PART", len(half[0]), found, len(model.rules_))
    X, y = next(iter(tables.values()))
    for n in sizes:
        rng = np.random.default_rng(0)
        t = many(categories(X).assign(**{"class": y.to_numpy()}), n, rng)
        Z, z = t.drop(columns="class"), t["class"]
        found, model = one(lambda: C45Classifier(prune=False), Z, z, Z, 1)
        note("drawn", "C4.5 unpruned", n, found | memory(Z, z, n), len(model.tree_))
    return res

def memory(X, y, n):
    "Megabytes held at most while learning, and that by row, measured apart since measuring takes time"
    if n > 300_000: return {}
    tracemalloc.start()
    C45Classifier(prune=False).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]; tracemalloc.stop()
    return dict(megabytes=round(peak/1e6, 1))

def report(out):
    "The numbers in Markdown, from the results file"
    t = pd.read_csv(out/SECONDS)
    rows = [[o.table, o.learner, f"{o.rows:,}", f"{o.fit:.3f}", f"{o.fit_cpu:.3f}", f"{o.predict:.3f}", f"{o.size:,}", "" if o.megabytes != o.megabytes else f"{o.megabytes:g}"] for o in t.itertuples()]
    return "\n".join([f"{common.facts(t)}; median of runs: {t['runs'].iloc[0]}", "", common.markdown(["table", "learner", "rows", "fit, s", "of CPU", "predict, s", "nodes or rules", "MB"], rows)])

def main(argv=None):
    p = common.options(__doc__, runs=dict(type=int, default=3, help="runs of each (3)"), rows=dict(type=int, nargs="+", default=[30_000, 100_000, 300_000, 1_000_000], help="sizes of drawn tables"),
                       part=dict(type=int, default=1, help="1: PART on half of Adult as well"))
    args = p.parse_args(argv)
    if args.quick:
        people = make_population(1500)
        cls = "income" if "income" in people else people.columns[-1]
        rows = run({"population": (people.drop(columns=cls), people[cls].astype(str))}, [2000], 1, False)
    else:
        common.find_data()
        tables = {}
        for name, complete in (("complete", True), ("missing", False)):
            t = fetch_adult("train", complete=complete)
            tables[name] = t.drop(columns="income"), t["income"]
        rows = run(tables, args.rows, args.runs, args.part)
    with tempfile.TemporaryDirectory() as tmp:
        out = args.out or (Path(tmp) if args.quick else common.RESULTS)
        common.write([dict(megabytes=None) | o | common.machine() for o in rows], out/SECONDS)
        print(report(out))
    return 0

if __name__ == "__main__": sys.exit(main())
