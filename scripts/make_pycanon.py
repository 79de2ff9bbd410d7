"""Ask pycanon for its numbers on small random tables, and store tables and numbers for
tests/test_agreement.py.

    python scripts/make_pycanon.py tests/data/pycanon.json

Run it with an interpreter that has pycanon; it needs nothing of ppdt. The tables follow from fixed
seeds, so every call makes the same ones. The numbers are stored under the version of pandas, beside
those of other versions that the file holds already: pycanon 1.3.6 asks for pandas 2.3.3, and sees
rows with missing values otherwise under pandas 3. The stored file holds two stacks:

    python -m venv A;  A/bin/pip install pycanon==1.3.6
    python -m venv B;  B/bin/pip install pandas==3.1.1 numpy==2.4.6 scipy==1.17.1 beartype==0.22.2
    && B/bin/pip install --no-deps pycanon==1.3.6

A table has quasi-identifiers q0, q1, ... and two secrets, `text` and `number`. An error is stored
as the name of its class.
"""

import json
import random
import sys
import warnings
from pathlib import Path

# no value missing; some missing in quasi-identifiers; some missing in secrets
KINDS = {"full": 26, "gap": 12, "secret": 6}


def make_table(kind, seed):
    """One table, a dict of lists; None is missing"""
    r = random.Random(f"{kind} {seed}")
    n, q = (
        (r.choice([2, 8, 13, 20, 30, 45, 90]) if kind == "full" else r.choice([15, 25, 40])),
        1 + seed % 4,
    )
    patterns = [
        tuple(r.choice("abc") if j % 2 == 0 else r.randrange(3) for j in range(q))
        for _ in range(max(2, n // r.randrange(4, 10)))
    ]
    rows = [list(r.choice(patterns)) for _ in range(n)]
    # a class that has nothing in one column, and single cells
    if kind == "gap":
        lost, j = r.choice(rows)[:], r.randrange(q)
        for row in rows:
            if row == lost:
                row[j] = None
        for _ in range(r.choice([0, 1, 2])):
            r.choice(rows)[r.randrange(q)] = None
    words, top = (
        r.sample(["flu", "hiv", "gout", "acne", "mumps", "angina"], r.randrange(1, 7)),
        r.randrange(1, 8),
    )
    text = [r.choice(words + words[:1]) for _ in rows]
    number = [min(r.randrange(top), r.randrange(top)) * 5 for _ in rows]
    if kind == "secret":
        for secret in text, number:
            for i in r.sample(range(n), r.randrange(1, 4)):
                secret[i] = None
    return {f"q{j}": list(c) for j, c in enumerate(zip(*rows))} | {"text": text, "number": number}


def make_tables():
    return {f"{kind} {i}": make_table(kind, i) for kind, many in KINDS.items() for i in range(many)}


def measure(table):
    """pycanon's numbers"""
    import pandas as pd
    from pycanon import anonymity as a

    data = pd.DataFrame(table)
    qi = [o for o in data if o[0] == "q"]

    def ask(f, *more):
        try:
            found = f(data, qi, *more)
        except Exception as e:
            return type(e).__name__
        found = [round(float(o), 12) for o in (found if isinstance(found, tuple) else (found,))]
        found = [None if o != o else int(o) if o == int(o) else o for o in found]
        return found if len(found) > 1 else found[0]

    res = {"k": ask(a.k_anonymity)}
    for s in "text", "number":
        res[s] = dict(
            distinct=ask(a.l_diversity, [s]),
            entropy=ask(a.entropy_l_diversity, [s]),
            recursive=ask(a.recursive_c_l_diversity, [s]),
            alpha_k=ask(a.alpha_k_anonymity, [s]),
            t=ask(a.t_closeness, [s]),
        )
    return res


def main(args):
    if len(args) != 1 or args[0].startswith("-"):
        print(__doc__)
        return 2
    from importlib.metadata import version

    path, tables = Path(args[0]), make_tables()
    old = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    stacks = old.get("stacks", {}) if old.get("tables") == tables else {}
    warnings.simplefilter("ignore")
    stacks[f"pandas {version('pandas')}"] = dict(
        versions={o: version(o) for o in ("pycanon", "pandas", "numpy", "scipy")},
        results={n: measure(t) for n, t in tables.items()},
    )

    def lines(d):
        return "{\n" + ",\n".join(f"{json.dumps(n)}: {json.dumps(v)}" for n, v in d.items()) + "}"

    parts = [
        f"{json.dumps(n)}: "
        + "{"
        + f'"versions": {json.dumps(s["versions"])}, "results": {lines(s["results"])}'
        + "}"
        for n, s in sorted(stacks.items())
    ]
    path.write_text(
        '{"tables": ' + lines(tables) + ',\n"stacks": {\n' + ",\n".join(parts) + "}}\n", "utf-8"
    )
    print(f"{path.name}: {len(tables)} tables, {', '.join(sorted(stacks))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
