"""In a browser there is no Parquet, no download, no bar of progress, and perhaps no picture: every
module can be imported without the packages for them, and a table protected, written, read and
learnt from.
"""

import subprocess
import sys

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
