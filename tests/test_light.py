"""In a browser there is no Parquet, no download, no bar of progress, and perhaps no picture: every
module can be imported without the packages for them, and a table protected, written, read and
learnt from.
"""

import ast
import subprocess
import sys

import places

CODE = """
import importlib, pkgutil, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyarrow", "pooch", "tqdm", "matplotlib"):
            raise ImportError(name)

sys.meta_path.insert(0, Missing())
import ppdt
names = [o.name for o in pkgutil.walk_packages(ppdt.__path__, "ppdt.")]
# nbdev's own needs are the developers'
for name in names:
    if name not in ("ppdt.engine.docs", "ppdt.engine.docstrings", "ppdt._modidx"):
        importlib.import_module(name)
from ppdt.c45 import C45Classifier
from ppdt.datasets import make_population
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import read_release

t = make_population(200, 0)
X, y = t[["age", "region", "education"]], t.income
release = MondrianAnonymizer(k=5).anonymize(X, y)
release.to_csv("release.csv")
again = read_release("release.csv")
tree = C45Classifier().fit(again)
assert again.audit.k >= 5 and (tree.predict(X) == C45Classifier().fit(release).predict(X)).all()
print(len(names))
"""


def test_without_parquet_downloads_progress_and_pictures(tmp_path):
    r = subprocess.run([sys.executable, "-c", CODE], cwd=tmp_path, capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    assert int(r.stdout) > 200


def counts_and_places():
    """Second arguments of np.repeat and of reduceat in the package, as (where, expression)"""
    for path in sorted((places.ROOT / "ppdt").rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.args[1:]
            ):
                of_numpy = getattr(call.func.value, "id", "") == "np"
                if call.func.attr == "reduceat" or call.func.attr == "repeat" and of_numpy:
                    yield f"{path.relative_to(places.ROOT)}:{call.lineno}", call.args[1]


def test_counts_and_places_fit_a_browser():
    """Python in a browser has 32 bits: there both refuse arrays of 64. Numbers and lists may be
    given as they are.
    """
    found = list(counts_and_places())
    assert len(found) > 80
    plain = (ast.Constant, ast.List, ast.ListComp, ast.Name)
    free = [(o, e) for o, e in found if getattr(getattr(e, "func", None), "id", "") != "as_index"]
    # names: numbers of columns and of rows
    assert {e.id for _, e in free if isinstance(e, ast.Name)} <= {"n", "width"}
    called = [(o, e) for o, e in free if not isinstance(e, plain)]
    assert not [
        o for o, e in called if getattr(getattr(e, "func", None), "id", "") not in ("len", "list")
    ]
