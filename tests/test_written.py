"""What is written can be read, by the schema of that file and no other, which says what was
promised and nothing that the file does not say.
"""

import io
import json
import os
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import replace
from datetime import date, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from random_tables import row_cells
from registry import ANONYMIZERS, REGISTRY, example, tasks

from ppdt.cli import main
from ppdt.datasets import load_customers, make_population
from ppdt.diversity import Alpha, LDiversity, TCloseness
from ppdt.erp import ERPAnonymizer
from ppdt.generalization import Taxonomy
from ppdt.mict import MiCTAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit
from ppdt.release import Anonymizer, GuaranteeError, SpreadsheetWarning, read_release
from ppdt.tables import TextFormError, canonical_order, schema_path
from ppdt.tds import TDRAnonymizer

ENDS = ("csv", "parquet")
file_end = pytest.mark.parametrize("end", ENDS)


def write(r, path):
    (r.to_csv if str(path).endswith(".csv") else r.to_parquet)(path)
    return path


def schema(path):
    return json.loads(schema_path(path).read_text())


# ---------- what is written can be read
FOUR = {
    "Int8": [1, None, 3, 5],
    "UInt64": [2**64 - 1, 2**63 + 1, 2**63, None],
    "uint64": [2**64 - 1, 2**63 + 1, 2**63, 0],
    "int64": [-(2**63), 2**63 - 1, 2**53 + 1, 0],
    "float16": [0.1, 0.5, -0.0, 6e-8],
    "float32": [0.1, 1e38, 1e-45, np.nan],
    "float64": [0.1, 1.7e300, 5e-324, np.nan],
    "Float32": [0.1, 1.5, None, 3],
    "longdouble": [0.5, 0.25, 3, 4],
    "bool": [True, False, True, True],
    "boolean": [True, None, True, False],
    "str": ["[20, 30)", "", "*", None],
    "object": ["<a>", '"missing"', "~1", "{a, b}"],
    "datetime64[s]": ["0001-01-01", "9999-12-31", None, "2020-02-29"],
    "datetime64[ns, Europe/Berlin]": ["2020-10-25", "2020-10-26", "2020-03-29", None],
    "datetime64[ns, Africa/Monrovia]": ["1920-01-01", "1930-01-01", "2020-01-01", None],
}


def column(name, dtype):
    if dtype.startswith("datetime64") and "," in dtype:
        times = pd.Series(pd.to_datetime(pd.Series(FOUR[dtype])), name=name)
        return times.dt.tz_localize("UTC").astype(dtype)
    return pd.Series(FOUR[dtype], dtype=dtype, name=name)


def same_cells(back, r):
    at = canonical_order([r.data[o] for o in r.data] + ([] if r.y is None else [r.y]))
    for o in r.data:
        assert row_cells(back.data[o]) == row_cells(r.data[o].iloc[at]), o


@file_end
@pytest.mark.parametrize("recoding", ["set", "interval"])
@pytest.mark.parametrize("dtype", FOUR)
def test_cells_of_all_dtypes_are_read_back(dtype, recoding, end, tmp_path):
    s = column("q", dtype)
    more = {} if dtype in ("float16", "longdouble") else {"c": s.astype("category")}
    X = pd.DataFrame({"q": s, "w": s, **more, "d": [date(2020, 1, i) for i in (1, 2, 3, 4)]})
    tool = MondrianAnonymizer(
        k=2,
        quasi_identifiers=["q"],
        published=[o for o in X if o != "q"],
        missing="category",
        recoding=recoding,
    )
    r = tool.anonymize(X, s.rename("class"))
    same_cells(read_release(write(r, tmp_path / f"o.{end}")), r)


@file_end
@pytest.mark.parametrize("cls", ANONYMIZERS, ids=lambda o: o.__name__)
def test_methods_write_what_is_read(cls, end, tmp_path):
    t = make_population(60, random_state=1)
    X, y = t[["education", "region"]], t["income"]
    r = example(cls, X, k=3).anonymize(X, y)
    same_cells(read_release(write(r, tmp_path / f"o.{end}")), r)


@file_end
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", timezone(timedelta(hours=1))], ids=str)
def test_zones_are_read(zone, end, tmp_path):
    times = pd.Series(pd.to_datetime(["2020-01-01", "2020-07-01"] * 2)).dt.tz_localize("UTC")
    times = times.dt.tz_convert(zone)
    X = pd.DataFrame({"q": times, "c": times.astype("category")})
    r = MondrianAnonymizer(k=2, recoding="interval").anonymize(X)
    same_cells(read_release(write(r, tmp_path / f"o.{end}")), r)


V = ["21", "22", "23", "34", "35", "36"]
NUMBERS = [int(o) for o in V]
LINES = [[o, "[20, 30)" if o < "30" else "[30, 40)", "*"] for o in V]


@file_end
@pytest.mark.parametrize("kind", ["str", "object", "category"])
@pytest.mark.parametrize(
    "tree,travels",
    [
        (Taxonomy.from_edges(NUMBERS, [20, 30, 40]), False),
        (Taxonomy.from_edges(NUMBERS, [20, 30, 40], public=True), True),
        (Taxonomy.from_lines(LINES), True),
    ],
    ids=["of numbers", "of public numbers", "of words"],
)
def test_ranges_over_words_are_nodes(tree, travels, kind, end, tmp_path):
    X = pd.DataFrame({"q": pd.Series(V, dtype=kind)})
    tool = MondrianAnonymizer(k=3, taxonomies={"q": tree})
    r = tool.anonymize(X)
    back = read_release(write(r, tmp_path / f"o.{end}"))
    same_cells(back, r)
    assert set(back.text().q) == {'<"[20, 30)">', '<"[30, 40)">'} and back.audit.k == 3
    # of a tree made from the data, the file has what published cells need: values are not told
    assert audit(back, original=X, lost=[]).truthful is (True if travels else None)
    assert audit(back, original=X, lost=[], taxonomies={"q": tree}).truthful is True
    assert set(map(str, tool.transform(X).q)) == set(back.text().q)


@file_end
@pytest.mark.parametrize("where", ["w", "class"])
@pytest.mark.parametrize(
    "values,says",
    [
        (pd.Series(np.ones(4, dtype="longdouble") / 10), "0.1"),
        (pd.Series(["a\ud800", "b", "c", "d"], dtype=object), "Unicode"),
        (pd.Series(np.array(["10000-01-01"] * 4, dtype="datetime64[s]")), "10000-01-01"),
    ],
    ids=["longdouble", "surrogate", "year 10000"],
)
def test_what_would_be_read_as_something_else_is_refused(values, says, where, end, tmp_path):
    X = pd.DataFrame({"q": [1, 1, 2, 2], "v": list("abcd")})
    y = None
    if where == "w":
        X["w"] = values
    else:
        y = values.rename("class")
    others = [o for o in X if o != "q"]
    r = MondrianAnonymizer(k=2, quasi_identifiers=["q"], published=others).anonymize(X, y)
    with pytest.raises(ValueError, match=f"Column '{where}' must hold what can be written.*{says}"):
        write(r, tmp_path / f"o.{end}")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("where", ["w", "class"])
@pytest.mark.parametrize(
    "values,says",
    [
        ([2**70 + i for i in range(4)], 2**70 + 1),
        ([2**64 + 1, 1, 2, 3], 2**64 + 1),
    ],
    ids=["2**70", "2**64"],
)
def test_whole_numbers_that_nothing_holds_are_refused_at_once(values, says, where):
    """No file is written with others in their places, since there is no release of them"""
    X = pd.DataFrame({"q": [1, 1, 2, 2], "v": list("abcd")})
    wide, y = pd.Series(values, dtype=object), None
    if where == "w":
        X["w"] = wide
    else:
        y = wide.rename("class")
    others = [o for o in X if o != "q"]
    tool = MondrianAnonymizer(k=2, quasi_identifiers=["q"], published=others)
    refused = f"Column '{where}' must hold numbers that 64 bits.*Got {says}:.*with .astype.str"
    with pytest.raises(ValueError, match=refused):
        tool.anonymize(X, y)


@one_in(2)
@given(st.lists(st.text(), min_size=2, max_size=6), st.sampled_from(ENDS))
def test_any_text_is_written_as_it_is(tmp_path_factory, texts, end):
    path = tmp_path_factory.getbasetemp() / f"texts.{end}"
    X = pd.DataFrame({"q": [1] * len(texts), "w": pd.Series(texts, dtype=object)})
    r = MondrianAnonymizer(k=2, quasi_identifiers=["q"], published=["w"]).anonymize(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpreadsheetWarning)
        write(r, path)
    same_cells(read_release(path), r)


def test_a_name_that_is_no_unicode(tmp_path):
    y = pd.Series([1, 1], name="a\ud800")
    r = MondrianAnonymizer(k=2).anonymize(pd.DataFrame({"q": [1, 1]}), y)
    with pytest.raises(ValueError, match="Unicode"):
        r.to_csv(tmp_path / "o.csv")
    assert not os.listdir(tmp_path)


@file_end
def test_nothing_is_left_behind(end, tmp_path, monkeypatch):
    r = MondrianAnonymizer(k=2).anonymize(pd.DataFrame({"a": [1, 1]}))
    schema_path(tmp_path / f"o.{end}").mkdir()
    with pytest.raises(OSError):
        write(r, tmp_path / f"o.{end}")
    assert os.listdir(tmp_path) == [f"o.{end}.schema.json"]
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / f"o.{end}").mkdir()
    with pytest.raises(OSError):
        write(r, tmp_path / "there" / f"o.{end}")
    assert os.listdir(tmp_path / "there") == [f"o.{end}"]


# ---------- one file, one schema
def test_two_files_of_one_name_have_two_schemas(tmp_path):
    words = pd.DataFrame({"q": ["01", "01", "02", "02"]})
    numbers = pd.DataFrame({"q": [1, 1, 2, 2]})
    a = write(MondrianAnonymizer(k=2).anonymize(words), tmp_path / "o.csv")
    b = write(MondrianAnonymizer(k=2).anonymize(numbers), tmp_path / "o.parquet")
    assert sorted(read_release(a).data.q) == ["01", "01", "02", "02"]
    assert sorted(read_release(b).data.q) == [1, 1, 2, 2]
    assert sorted(os.listdir(tmp_path)) == [
        "o.csv",
        "o.csv.schema.json",
        "o.parquet",
        "o.parquet.schema.json",
    ]


@file_end
def test_a_file_that_is_not_the_one_described_is_refused(end, tmp_path):
    t = load_customers()
    one = write(MondrianAnonymizer(k=3).anonymize(t), tmp_path / f"one.{end}")
    two = write(MondrianAnonymizer(k=5).anonymize(t), tmp_path / f"two.{end}")
    assert schema(one)["file"]["name"] == one.name and len(schema(one)["file"]["sha256"]) == 64
    two.replace(one)
    with pytest.raises(TextFormError, match=f"{one.name} is not the file.*changed=True"):
        read_release(one)
    r = read_release(one, changed=True)
    assert r.schema.promise == {} and r.audit.promise is None and r.audit.k >= 5
    # a pair may be moved to another name
    schema_path(two).replace(schema_path(tmp_path / f"three.{end}"))
    one.replace(tmp_path / f"three.{end}")
    assert read_release(tmp_path / f"three.{end}").audit.holds
    bare = schema(tmp_path / f"three.{end}")
    del bare["file"]
    schema_path(tmp_path / f"three.{end}").write_text(json.dumps(bare))
    with pytest.raises(TextFormError, match="is not the file"):
        read_release(tmp_path / f"three.{end}")


# ---------- the promise
PEOPLE = make_population(80, random_state=2)
QI = ["age", "education", "region"]
GROUPS = [(["age", "education"], 3), (["education", "region"], 5)]


def released(tool, **p):
    tool.set_params(quasi_identifiers=QI, published=["occupation"], **p)
    return tool.anonymize(PEOPLE[[*QI, "occupation"]], PEOPLE["income"])


@file_end
def test_the_promise_travels_with_the_file(end, tmp_path):
    limits = [LDiversity(2), TCloseness(0.5), Alpha(0.9, sensitive="occupation")]
    tools = {
        "k-anonymity": MondrianAnonymizer(k=4, mode="relaxed", constraints=limits),
        "k-concealment": ERPAnonymizer(k=4, random_state=0),
        "groups": TDRAnonymizer(groups=GROUPS, disclose="score"),
        "none": MiCTAnonymizer(k=4, release="asis"),
    }
    for kind, tool in tools.items():
        r = released(tool)
        path = write(r, tmp_path / f"{kind}.{end}")
        said = schema(path)["promise"]
        assert (said["kind"], said["method"]) == (kind, type(tool).__name__)
        assert said["ppdt"] and said["check"]
        back = read_release(path)
        assert back.schema.promise == said == r.schema.promise
        found = back.audit
        if kind == "none":
            assert found.promise is found.holds is None
            continue
        assert found.promise == said["words"]
        assert found.promise == r.audit.promise
        assert found.holds is (None if kind == "k-concealment" else True)
        assert audit(back).holds is found.holds and audit(back).promise == found.promise
    a = schema(tmp_path / f"k-anonymity.{end}")["promise"]
    assert a["k"] == 4 and a["options"]["mode"] == "relaxed"
    assert [o["kind"] for o in a["constraints"]] == ["LDiversity", "TCloseness", "Alpha"]
    assert [o["column"] for o in a["constraints"]] == ["income", "income", "occupation"]
    groups = schema(tmp_path / f"groups.{end}")["promise"]["groups"]
    assert groups == [{"columns": c, "k": k} for c, k in GROUPS]


def test_what_another_k_says(tmp_path):
    """Whoever asks for a k gets the verdict on that k of the promise"""
    e = read_release(write(released(ERPAnonymizer(k=4, random_state=0)), tmp_path / "e.csv"))
    X = PEOPLE[QI]
    assert audit(e, k=4).holds is None and audit(e, k=5).holds is False
    assert "promises k-concealment with k = 4 only" in audit(e, k=5).warnings[-1]
    assert audit(e, k=81).holds is False
    beside = audit(e, k=4, original=X)
    assert beside.holds is True and beside.one_k >= 4 and beside.global_one_k >= 4
    other = X.assign(age=X.age.to_numpy()[::-1] + 100)
    assert audit(e, k=4, original=other).holds is False
    g = read_release(
        write(released(TDRAnonymizer(groups=GROUPS, disclose="score")), tmp_path / "g.csv")
    )
    sizes = [audit(g.data, c).k for c, _ in GROUPS]
    assert audit(g, k=min(sizes)).holds is True and audit(g, k=min(sizes) + 1).holds is False
    m = read_release(write(released(MondrianAnonymizer(k=4)), tmp_path / "m.csv"))
    assert audit(m, k=m.audit.k + 1).holds is False
    # other quasi-identifiers are another question
    assert audit(m, ["age"]).promise is None and audit(e, ["age"]).promise is None


@one_in(7)
@given(data=st.data(), end=st.sampled_from(ENDS))
def test_the_file_alone_never_refutes_what_is_true(tmp_path_factory, data, end):
    X, y, p = data.draw(tasks(ERPAnonymizer))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            r = ERPAnonymizer(**p).anonymize(X, y)
        except ValueError as e:
            assert any(o in str(e) for o in REGISTRY[ERPAnonymizer].impossible), e
            return
        back = read_release(write(r, tmp_path_factory.getbasetemp() / f"true.{end}"))
    kind = back.schema.promise["kind"]
    assert back.audit.holds is True or kind == "k-concealment" and back.audit.holds is None
    if kind == "k-concealment" and p["missing"] != "drop":
        beside = audit(back, original=X, consistency=True)
        assert beside.holds is True


@file_end
def test_rows_that_overlap_with_too_few_refute_a_promise(end, tmp_path):
    X = pd.DataFrame(
        {"a": [1, 2, 3, 4], "b": list("xxyy"), "d": pd.to_datetime(["2020-01-01"] * 4)}
    )
    path = write(MondrianAnonymizer(k=1).anonymize(X), tmp_path / f"o.{end}")
    d = schema(path)
    d["promise"] |= {"kind": "k-concealment", "k": 2, "words": "k-concealment with k = 2"}
    schema_path(path).write_text(json.dumps(d))
    assert read_release(path).audit.holds is False


def test_a_promise_that_a_file_does_not_keep(tmp_path):
    r = released(MondrianAnonymizer(k=3, constraints=[LDiversity(1)]))
    path = write(r, tmp_path / "o.csv")
    d = schema(path)
    for change in (
        {"k": 70},
        {"constraints": [d["promise"]["constraints"][0] | {"parameters": {"l": 9}}]},
    ):
        schema_path(path).write_text(json.dumps(d | {"promise": d["promise"] | change}))
        back = read_release(path)
        assert back.audit.holds is False
        with pytest.raises(GuaranteeError, match="does not hold: nothing is written"):
            back.to_csv(tmp_path / "again.csv")


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "total"},
        {"kind": None},
        {"k": 0},
        {"k": "5"},
        {"k": True},
        {"k": 2.5},
        {"kind": "groups"},
        {"kind": "groups", "groups": [{"columns": ["x"], "k": 2}]},
        {"kind": "groups", "groups": [{"columns": [], "k": 2}]},
        {"kind": "groups", "groups": 5},
        {"constraints": 5},
        {"constraints": [5]},
        {"constraints": [{}]},
        {"constraints": [{"kind": "eval", "column": "age", "words": "", "parameters": {}}]},
        {"constraints": [{"kind": "Alpha", "column": "x", "words": "", "parameters": {}}]},
        {"constraints": [{"kind": "Alpha", "column": ["age"], "words": "", "parameters": {}}]},
        {
            "constraints": [
                {"kind": "Alpha", "column": "age", "words": "", "parameters": {"alpha": 7}}
            ]
        },
        {
            "constraints": [
                {"kind": "Alpha", "column": "age", "words": "", "parameters": {"beta": 7}}
            ]
        },
        {"constraints": [{"kind": "LDiversity", "column": "age", "words": "", "parameters": [1]}]},
    ],
    ids=str,
)
def test_a_promise_that_is_none(change, tmp_path):
    path = write(released(MondrianAnonymizer(k=3)), tmp_path / "o.csv")
    d = schema(path)
    schema_path(path).write_text(json.dumps(d | {"promise": d["promise"] | change}))
    with pytest.raises(TextFormError, match="the promise in the schema cannot be used"):
        read_release(path)


class Theirs(Anonymizer):
    "A method of somebody else, with an option that tells a value"

    def __init__(self, k=2, quasi_identifiers=None, top="nobody", constraints=(), published=()):
        super().__init__(k, quasi_identifiers, constraints=constraints, published=published)
        self.top = top

    def _publish(self, task):
        return MondrianAnonymizer(k=task.k)._publish(task)


def test_the_promise_tells_no_value(tmp_path):
    X = pd.DataFrame({"wage": [10, 10, 20, 20, 987654, 987654], "ill": list("ababac")})
    secret = Alpha(0.9, value="zzz", sensitive="ill")
    tree = Taxonomy.from_dict({"*": {"qqq": ["a", "b"], "rrr": ["c", "zzz"]}})
    near = TCloseness(0.9, taxonomy=tree, sensitive="ill")
    tools = [
        Theirs(k=2, quasi_identifiers=["wage"], published=["ill"], top="987655"),
        MondrianAnonymizer(k=2, quasi_identifiers=["wage"], constraints=[near]),
        MondrianAnonymizer(k=np.int64(2), quasi_identifiers=["wage"], published=["ill"]),
        TDRAnonymizer(
            k=2,
            quasi_identifiers=["wage"],
            published=["ill"],
            bounds={"wage": (3, 987656)},
            disclose="score",
        ),
    ]
    for tool in tools:
        said = tool.anonymize(X, list("xyxyxy")).schema.promise
        text = json.dumps(said)
        assert not any(o in text for o in ("98765", "zzz", "qqq", "nobody", "random_state")), text
    with pytest.raises(ValueError, match="zzz"):
        replace(secret)  # the value that nobody has is refused by the method itself
        MondrianAnonymizer(k=2, quasi_identifiers=["wage"], constraints=[secret]).anonymize(X)
    named = Alpha(0.9, value="a", sensitive="ill")
    tool = MondrianAnonymizer(k=2, quasi_identifiers=["wage"], constraints=[named])
    r = tool.anonymize(X)
    words = "a share of at most 0.9 of one value of 'ill'"
    assert r.schema.promise["constraints"] == [{"words": words}]
    # what stands in words only is not checked, and that is said
    back = read_release(write(r, tmp_path / "o.csv"))
    assert back.audit.holds is None and back.audit.promise == r.schema.promise["words"]
    assert back.audit.warnings[-1].startswith("not checked") and audit(back, k=2).holds is True
    assert audit(back, k=3).holds is False


# ---------- the command
def command(*words, cwd):
    """Exit code and what was said; in this process, which is quicker"""
    out, err = io.StringIO(), io.StringIO()
    with chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        code = main([*map(str, words)])
    return code, out.getvalue(), err.getvalue()


def test_the_command_checks_what_a_file_promises(tmp_path):
    PEOPLE[[*QI, "income"]].to_csv(tmp_path / "p.csv", index=False)
    words = "anonymize p.csv --qi age,education,region --class income --k 4".split()
    for mode, alone in (("erp", 3), ("strict", 0)):
        code, out, _ = command(*words, "--mode", mode, "-o", f"{mode}.csv", cwd=tmp_path)
        assert code == 0 and f"{mode}.csv.schema.json" in out
        for asked in ([], ["--k", 4]):
            code, out, _ = command("audit", f"{mode}.csv", *asked, cwd=tmp_path)
            assert code == alone and "DOES NOT" not in out
            beside = [*asked, "--original", "p.csv"]
            code, out, _ = command("audit", f"{mode}.csv", *beside, cwd=tmp_path)
            assert code == 0 and "k = 4: holds" in out
        code, out, _ = command("audit", f"{mode}.csv", "--k", 60, cwd=tmp_path)
        assert code == 1 and "DOES NOT HOLD" in out
    code, out, _ = command("audit", "erp.csv", cwd=tmp_path)
    assert "cannot be checked on the file alone" in out and "give --original" in out
    text = (tmp_path / "erp.csv").read_text()
    (tmp_path / "erp.csv").write_text(text.replace("\n", "\r\n"))
    code, out, err = command("audit", "erp.csv", cwd=tmp_path)
    assert code == 2 and "is not the file that erp.csv.schema.json describes" in err
    assert "--numeric and --categorical" in err and "changed=" not in err


# ---------- spreadsheets
STARTS = ["=1+1", "+49 30", "-a", "@user", "\tx", "\rx", "=cmd|' /C calc'!A0"]


@pytest.mark.parametrize("text", STARTS)
@pytest.mark.parametrize("where", ["q", "w", "class", "name", "category"])
def test_texts_that_spreadsheets_run_are_warned_of(text, where, tmp_path):
    X = pd.DataFrame({"q": ["a", "a"], "w": ["x", "y"]})
    y = pd.Series(["u", "v"], name="class")
    if where == "class":
        y[0] = text
    elif where == "name":
        X = X.rename(columns={"w": text})
    elif where == "category":
        X["w"] = pd.Categorical([text, "y"])
    else:
        X[where] = text
    others = [o for o in X if o != "q"]
    r = MondrianAnonymizer(k=2, quasi_identifiers=["q"], published=others).anonymize(X, y)
    name = {"name": text, "category": "w"}.get(where, where)
    with pytest.warns(SpreadsheetWarning, match="spreadsheets run texts") as seen:
        r.to_csv(tmp_path / "o.csv")
    assert (
        len(seen) == 1 and repr(name) in str(seen[0].message) and "Parquet" in str(seen[0].message)
    )
    r.to_parquet(tmp_path / "o.parquet")


def test_numbers_are_no_formulas(tmp_path):
    X = pd.DataFrame(
        {
            "q": [-5, -5],
            "f": [-0.5, 1e-7],
            "words": ["-5", "+3.5e-7"],
            "mail": ["a@b", "a=b"],
            "set": ["-", "x"],
        }
    )
    others = ["f", "words", "mail"]
    tool = MondrianAnonymizer(k=2, quasi_identifiers=["q"], published=others)
    tool.anonymize(X.drop(columns="set")).to_csv(tmp_path / "o.csv")
    # a set of such words begins with a brace
    MondrianAnonymizer(k=2).anonymize(X[["set"]]).to_csv(tmp_path / "o.csv")


def test_the_command_says_so(tmp_path):
    (tmp_path / "p.csv").write_text("q,w\n1,=1+1\n1,x\n")
    words = "anonymize p.csv --qi q --publish w --k 2 -o".split()
    code, out, err = command(*words, "o.csv", cwd=tmp_path)
    assert code == 0 and "note" in out and "spreadsheets run" in out and "Warning" not in err
    code, out, err = command(*words, "o.parquet", cwd=tmp_path)
    assert code == 0 and "spreadsheets" not in out
