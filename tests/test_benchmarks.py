"""The benchmarks run, read anonypy's strings right, compare with pycanon what can be compared, and
README.md shows the stored numbers.
"""

import os
import subprocess
import sys

import pandas as pd
import places
import pytest
import ready
from hypothesis import given, strategies as st

from ppdt.generalization import recode
from ppdt.tables import Interval, cells

BENCH = places.ROOT / "benchmarks"
NAMES = [
    "accuracy",
    "attacks",
    "audit",
    "c45",
    "clusters",
    "erp",
    "kactus",
    "mict",
    "million",
    "mondrian",
    "profile",
    "scale",
    "scaling",
    "tds",
    "trees",
]
sys.path.insert(0, str(BENCH))
_kept = dict(os.environ)
import bench_accuracy
import bench_attacks
import bench_audit
import bench_c45
import bench_clusters
import bench_erp
import bench_kactus
import bench_mict
import bench_million
import bench_mondrian
import bench_profile
import bench_scale
import bench_scaling
import bench_tds
import bench_trees
import common

os.environ.clear()
os.environ.update(_kept)  # the benchmarks ask for one thread; other tests need not know
MODULES = dict(
    accuracy=bench_accuracy,
    attacks=bench_attacks,
    audit=bench_audit,
    c45=bench_c45,
    clusters=bench_clusters,
    erp=bench_erp,
    kactus=bench_kactus,
    mict=bench_mict,
    million=bench_million,
    mondrian=bench_mondrian,
    profile=bench_profile,
    scale=bench_scale,
    scaling=bench_scaling,
    tds=bench_tds,
    trees=bench_trees,
)
from bench_mondrian import parse_table


def bench(name, *options):
    return subprocess.run(
        [sys.executable, BENCH / f"bench_{name}.py", *options],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture(scope="session")
def pool():
    """Where benchmarks are run, each in a process of its own"""
    with ready.pool(1) as ex:
        yield ex


@pytest.mark.parametrize("name", NAMES)
def test_help(name, capsys):
    with pytest.raises(SystemExit) as e:
        MODULES[name].main(["--help"])
    told = capsys.readouterr()
    assert e.value.code == 0 and "--quick" in told.out and not told.err


def _is_whole(name, r, folder, before):
    """It went from end to end, and left the stored numbers alone"""
    assert r.returncode == 0 and not r.stderr, r.stderr
    assert "nan" not in r.stdout and MODULES[name].report(folder) in r.stdout
    assert list(folder.glob(f"{name}*.csv"))
    assert before == _stored()


def _stored():
    """What is stored of all benchmarks"""
    found = {p.name: p.read_bytes() for p in (BENCH / "results").glob("*")}
    return found | {"README": common.README.read_bytes()}


@pytest.mark.parametrize("name", NAMES)
def test_quick_run(name, pool, tmp_path):
    before = _stored()
    r = ready.script(pool, BENCH / f"bench_{name}.py", "--quick", "--out", tmp_path)
    _is_whole(name, r, tmp_path, before)


def test_a_program_of_its_own(tmp_path):
    """As users start it, with workers that import what they need"""
    before = _stored()
    r = bench("clusters", "--quick", "--out", tmp_path)
    _is_whole("clusters", r, tmp_path, before)
    assert bench("clusters", "--help").returncode == 0


@pytest.mark.parametrize("name", NAMES)
def test_readme_shows_the_stored_numbers(name):
    assert common.readme_block(name) == MODULES[name].report(common.RESULTS)


def test_no_rival_without_pip(tmp_path, capsys):
    """A folder that cannot be made: no comparison, and the reason"""
    (tmp_path / "file").write_text("in the way")
    assert bench_mondrian.rival(tmp_path / "file" / "env") is None
    assert common.environment(tmp_path / "file" / "env", bench_audit.PINS, "pycanon") is None
    assert capsys.readouterr().err.count("no comparison") == 2


def test_every_benchmark_is_tested():
    assert sorted(NAMES) == sorted(
        p.stem.removeprefix("bench_") for p in BENCH.glob("bench_*.py")
    ) and sorted(MODULES) == sorted(NAMES)


def test_what_weka_reads(tmp_path):
    """Declared order, quotes, missing values"""
    t = pd.DataFrame(
        {
            "a number": [1.5, None],
            "word": pd.Categorical(["it's", None], ["unused", "it's", "back\\slash"]),
        }
    )
    lines = bench_c45.write_arff(t, tmp_path / "t.arff").read_text("utf-8").splitlines()
    assert lines == [
        "@relation table",
        "@attribute 'a number' numeric",
        "@attribute 'word' {'unused','it\\'s','back\\\\slash'}",
        "@data",
        "1.5,'it\\'s'",
        "?,?",
    ]


def test_no_weka_there(tmp_path):
    r = bench("c45", "--quick", "--weka", tmp_path / "weka.jar")
    assert r.returncode == 2 and "--weka must be the file" in r.stderr


OURS = dict(k=3, distinct=2, entropy=1.8899, c=2.0, alpha=2 / 3, t=0.5)
THEIRS = dict(k=3.0, distinct=2.0, entropy=1.0, recursive=[1.0, 2.0], alpha_k=[2 / 3, 3.0], t=0.5)


def test_what_pycanon_finds_too():
    bench_audit.check_same(OURS, THEIRS)


def test_an_entropy_that_pycanon_rounds_down():
    bench_audit.check_same(OURS | dict(entropy=2.0), THEIRS)


@pytest.mark.parametrize(
    "change",
    [
        dict(k=2.0),
        dict(distinct=3.0),
        dict(entropy=2.0),
        dict(entropy=0.0),
        dict(recursive=[1.0, 3.0]),
        dict(alpha_k=[0.6, 3.0]),
        dict(alpha_k=[2 / 3, 2.0]),
        dict(t=0.51),
    ],
)
def test_a_difference_from_pycanon_is_noticed(change):
    with pytest.raises(SystemExit, match="differ in"):
        bench_audit.check_same(OURS, THEIRS | change)


COUNTRIES = {
    "United-States",
    "Outlying-US(Guam-USVI-etc)",
    "Trinadad&Tobago",
    "Hong",
    "Holand-Netherlands",
    "Honduras",
    "South",
}


def as_anonypy(column, numeric, flip):
    """Cells as anonypy writes them, in lists of one string; sets in any order"""

    def text(c):
        if isinstance(c, Interval):
            return f"{c.lo}-{c.hi}"
        if numeric:
            return str(c.value)
        v = sorted(c.values)
        return ",".join(v[::-1] if flip else v)

    codes, cs = cells(column)
    return [[text(cs[c])] for c in codes]


people = st.lists(
    st.tuples(
        st.integers(-9, 9),
        st.sampled_from(sorted(COUNTRIES)),
        st.sampled_from(["no", "yes"]),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=30,
)


@given(people, st.booleans())
def test_what_anonypy_writes_is_read_back(rows, flip):
    """anonypy's form of a release (one row for each group and class, with a count), read and
    checked against the groups
    """
    t = pd.DataFrame(rows, columns=["n", "land", "income", "group"])
    original, groups = t[["n", "land", "income"]], t.pop("group")
    r = recode(original[["n", "land"]], groups, "interval")
    written = pd.DataFrame(
        {
            "n": as_anonypy(r["n"], True, flip),
            "land": as_anonypy(r["land"], False, flip),
            "income": t["income"],
            "group": groups,
        }
    )
    records = [
        dict(n=o["n"].iloc[0], land=o["land"].iloc[0], income=o["income"].iloc[0], count=len(o))
        for _, o in written.groupby(["group", "income"])
    ]
    data, y = parse_table(records, original)
    assert len(data) == len(y) == len(t)
    bench_mondrian.check_parse(data, y, original, groups)


def test_a_wrong_reading_is_noticed():
    t = pd.DataFrame(dict(n=[1, 2, 3], income=["no", "no", "no"]))
    with pytest.raises(SystemExit, match="not read right"):
        bench_mondrian.check_parse(
            *parse_table([dict(n=["1-2"], income="no", count=3)], t), t, [0, 0, 0]
        )
