"""`ppdt report`: PUBLIC pages tell nothing that the release does not, INTERNAL ones say what they
are; the pages are whole, fetch nothing and name no place of this machine.
"""

import base64
import json
import re
from datetime import date

import numpy as np
import pandas as pd
import pytest
import ready
from examples import one_in
from hypothesis import given as _given, strategies as st
from random_tables import pick
from registry import ANONYMIZERS
from secret_tables import hidden_values, told_in_text
from test_artefacts import published
from test_cli import Page

from ppdt import cli
from ppdt.clusters import ClusterAnonymizer
from ppdt.datasets import load_customers
from ppdt.diversity import Alpha, LDiversity, TCloseness
from ppdt.engine.command_words import CommandError
from ppdt.engine.messy_files import write_messy_files
from ppdt.engine.page import page, table, text
from ppdt.engine.report_facts import BANDS, gather, rows_in_bands
from ppdt.engine.report_page import report
from ppdt.engine.report_risk import THRESHOLDS, crowd, threshold_rows
from ppdt.engine.report_shares import form_of, shares_of
from ppdt.engine.report_terms import term_rows
from ppdt.engine.report_words import column_words, command_words, percent, warning_words
from ppdt.erp import ERPAnonymizer
from ppdt.kactus import KActusAnonymizer
from ppdt.mict import MiCTAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import read_release
from ppdt.tables import (
    Centroid,
    Exact,
    Interval,
    Node,
    Suppressed,
    TextFormError,
    ValueSet,
    cell_column,
    schema_path,
)

DAY = date(2026, 11, 30)


def given(**draws):
    return lambda f: one_in(25, least=3)(_given(**draws)(f))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with the customers, which is the current one"""
    monkeypatch.chdir(tmp_path)
    load_customers().reset_index().to_csv("customers.csv", index=False)
    return tmp_path


@pytest.fixture
def ppdt(here, capsys):
    """Calls main with a list of words: (exit code, stdout, stderr)"""

    def call(*words):
        capsys.readouterr()
        code = cli.main([o for line in words for o in line.split()])
        return code, *capsys.readouterr()

    return call


def program(line, cwd):
    """Runs the command as a program of its own"""
    return ready.command(*line.split(), cwd=cwd)


MAKE = "anonymize customers.csv --qi Gender,Marital,Age --identifiers customer --class Bought --k 3"


def pictures(html):
    """The pictures inside a page, as texts"""
    found = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', html)
    return [base64.b64decode(o).decode() for o in found]


def words_of(html):
    """A page without its pictures and its style"""
    html = re.sub(r'src="data:[^"]*"', "", html)
    return re.sub(r"<style>.*?</style>", "", html, flags=re.S)


def assert_whole(html):
    """A page that can be shown, sent and printed"""
    found = Page(html)
    assert not found.open and ("html", {"lang": "en"}) in found.tags
    tags = {t for t, _ in found.tags}
    assert not tags & {"script", "link", "iframe", "object", "form", "base"}
    images = [a for t, a in found.tags if t == "img"]
    assert all(a["src"].startswith("data:image/svg+xml;base64,") for a in images)
    assert all(len(a["alt"]) > 20 for a in images)
    assert not [a for _, a in found.tags if {"href", "onload", "onclick"} & set(a)]
    assert "url(" not in html and "@import" not in html and "default-src 'none'" in html
    for o in pictures(html):
        assert o.startswith("<?xml") and "<script" not in o and "<image" not in o


def customers(tool=None):
    """(release, the whole original)"""
    t = load_customers()
    tool = tool or MondrianAnonymizer(k=3)
    return tool.anonymize(t.drop(columns="Bought"), t["Bought"]), t


# ---------------------------------------------------------------- as a program
def test_a_public_report(here, ppdt):
    ppdt(MAKE, "-o out.csv")
    r = program("report out.csv --date 2026-11-30", here)
    assert r.returncode == 0 and not r.stderr and "report.html, a report (PUBLIC)" in r.stdout
    html = (here / "report.html").read_text("utf-8")
    assert_whole(html)
    assert "PUBLIC" in html and "INTERNAL" not in html and '<div class="stamp"' not in html
    assert str(here) not in html and "customers.csv" not in html and "2026-11-30" in html
    sha = schema_path(here / "out.csv").read_text().split('"sha256": "')[1][:64]
    assert sha in re.sub("<wbr>", "", html) and f"ppdt {cli.__name__ and '0'}" in html
    for o in ("Gender", "Marital", "Age", "Bought", "ppdt verify", "Approved by", "signature"):
        assert o in html
    first = (here / "report.html").read_bytes()
    r = program("report out.csv --date 2026-11-30", here)
    assert r.returncode == 0 and "replaced" in r.stdout
    assert (here / "report.html").read_bytes() == first
    assert {o.name for o in here.iterdir()} == {
        "customers.csv",
        "out.csv",
        "out.csv.schema.json",
        "report.html",
    }


def test_an_internal_report(here, ppdt):
    ppdt(MAKE, "-o out.csv")
    line = "report out.csv --internal --original customers.csv -o in.html --title Try --owner Me"
    r = program(line, here)
    assert r.returncode == 0 and "in.html, a report (INTERNAL)" in r.stdout, r.stderr
    html = (here / "in.html").read_text("utf-8")
    assert_whole(html)
    assert '<div class="stamp" aria-hidden="true">INTERNAL</div>' in html
    assert "position: fixed" in html, "on every page that is printed"
    assert "PUBLIC" not in words_of(html) and str(here) not in html
    assert "<title>Try</title>" in html and "Me" in html
    assert "--identifiers customer" in html and "original" in html
    assert all("original" in o for o in pictures(html))
    assert date.today().isoformat() in html


def test_reports_of_other_commands(here, ppdt):
    code, out, err = ppdt(MAKE, "-o out.csv --report a.html")
    assert code == 0 and out.endswith("wrote a.html, a report (PUBLIC)\n"), err
    code, out, _ = ppdt(MAKE, "-o out.csv --report b.html --internal")
    assert code == 0 and "b.html, a report (INTERNAL)" in out
    code, out, _ = ppdt("audit out.csv --report c.html")
    assert code == 0 and "c.html, a report (PUBLIC)" in out
    code, out, _ = ppdt("audit out.csv --original customers.csv --report d.html --internal")
    assert code == 0 and "d.html, a report (INTERNAL)" in out
    assert (here / "a.html").read_bytes() == (here / "c.html").read_bytes()
    assert (here / "b.html").read_bytes() == (here / "d.html").read_bytes()
    code, out, _ = ppdt("audit out.csv --original customers.csv --report e.html")
    assert code == 0 and "(PUBLIC)" in out
    assert (here / "e.html").read_bytes() == (here / "c.html").read_bytes()


BAD = {
    "no original": ("report out.csv --internal", "--internal must come with --original"),
    "an original": ("report out.csv --original customers.csv", "add --internal"),
    "no page": ("report out.csv -o report.csv", "must end in .html"),
    "no folder": ("report out.csv -o no/report.html", "a folder that exists"),
    "a day": ("report out.csv --date 30.11.2026", "a day as in 2026-11-30"),
    "no schema": ("report customers.csv", "must have its schema beside it"),
    "no file": ("report none.csv", "none.csv"),
    "nothing": ("report", "RELEASE"),
    "no report": ("audit out.csv --internal", "--internal must come with --report"),
    "no report here": (f"{MAKE} -o new.csv --internal", "--internal must come with --report"),
    "another ending": (f"{MAKE} -o new.csv --report new.pdf", "--report must end in .html"),
    "not the original": (
        "audit out.csv --report a.html --internal",
        "--internal must come with --original",
    ),
}


@pytest.mark.parametrize("line, says", BAD.values(), ids=BAD)
def test_bad_words(here, ppdt, line, says):
    ppdt(MAKE, "-o out.csv")
    before = {o.name: o.read_bytes() for o in here.iterdir()}
    code, _, err = ppdt(line)
    assert code == 2 and says in err and re.fullmatch(r"ppdt: [^\n]+\n", err)
    assert {o.name: o.read_bytes() for o in here.iterdir()} == before


def test_a_release_that_was_changed(here, ppdt):
    ppdt(MAKE, "-o out.csv")
    at = here / "out.csv"
    at.write_text(at.read_text().replace("Yes", "No", 1))
    code, out, _ = ppdt("report out.csv")
    html = (here / "report.html").read_text("utf-8")
    assert code == 1 and "does not hold" in out
    assert "BROKEN" in html and "not the one that was written" in html


def test_a_schema_that_promises_too_much(here, ppdt):
    ppdt(MAKE, "-o out.csv")
    at = schema_path(here / "out.csv")
    at.write_text(at.read_text().replace('"k": 3', '"k": 5').replace("k = 3", "k = 5"))
    code, _, _ = ppdt("report out.csv")
    html = (here / "report.html").read_text("utf-8")
    assert code == 1 and "it does NOT hold" in html


def test_a_schema_that_contradicts_the_file(here, ppdt):
    ppdt(MAKE, "-o out.csv")
    at = schema_path(here / "out.csv")
    at.write_text(at.read_text().replace('"dtype": "str"', '"dtype": "int64"', 1))
    code, _, err = ppdt("report out.csv")
    assert code == 2 and "contradict" in err and not (here / "report.html").exists()


def test_nothing_is_left_half_written(here, ppdt, monkeypatch):
    ppdt(MAKE, "-o out.csv")
    (here / "report.html").write_text("old")
    before = {o.name: o.read_bytes() for o in here.iterdir()}

    def stop(*args, **kw):
        raise KeyboardInterrupt

    monkeypatch.setattr("ppdt.engine.files.os.replace", stop)
    code, _, err = ppdt("report out.csv")
    assert code == 130 and "no file was left half written" in err
    assert {o.name: o.read_bytes() for o in here.iterdir()} == before


# ---------------------------------------------------------------- what a public page tells
@pytest.mark.parametrize("cls", list(ANONYMIZERS), ids=lambda o: o.__name__)
@given(data=st.data(), end=pick(".csv", ".parquet"))
def test_a_public_page_names_only_what_cells_name(cls, tmp_path_factory, data, end):
    X, y, tool, _ = data.draw(published(cls))
    if tool is None:
        return
    r, at = tool.release_, tmp_path_factory.mktemp("out") / f"out{end}"
    (r.to_csv if end == ".csv" else r.to_parquet)(at)
    hidden = hidden_values(X, r, getattr(tool, "taxonomies", None))
    # a page takes a second: of the file, of the release at hand, or beside the original
    what = data.draw(pick("file", "release", "original"))
    if what == "original":
        html = report(at, X.join(y), internal=True, date=DAY)
        assert_whole(html)
        assert "INTERNAL" in html and "PUBLIC" not in words_of(html)
        return
    html = report(at if what == "file" else r, date=DAY)
    assert_whole(html)
    assert "INTERNAL" not in html
    for o in (words_of(html).replace("2026-11-30", ""), *pictures(html)):
        assert told_in_text(_no_drawing(o), hidden) == set()


def _no_drawing(o):
    """A text without the hash of a file, and a picture without its lines: both have any digits"""
    o = re.sub(r"\b[0-9a-f<wbr>]{64,}", "", o)
    o = re.sub(r"SHA-256 [0-9a-f]{16}", "", o)
    # the ends of bars divide what the cells show into equal parts, wherever these ends lie
    o = re.sub(r'alt="Distribution of [^"]*"', "", o)
    return re.sub(r'\s(?:d|id|xlink:href|clip-path|transform|[xy]|style)="[^"]*"', "", o)


def test_a_public_page_of_a_release_at_hand_knows_no_more(tmp_path):
    """Lost rows, the order of rows and losses are the owner's; the file does not tell them"""
    r, _ = customers(KActusAnonymizer(k=3))
    assert len(r.lost) and r.audit.lost_rows
    r.to_csv(tmp_path / "out.csv")
    a, b = gather(r), gather(tmp_path / "out.csv")
    assert a.audit.lost_rows is None and a.audit.gcp is None and a.n_people is None
    assert str(a.audit) == str(b.audit) and a.secrets == b.secrets
    for mine, theirs in zip(a.columns, b.columns):
        assert mine.shares.labels == theirs.shares.labels
        assert np.allclose(mine.shares.after, theirs.shares.after)
        assert column_words(mine, a.n_rows) == column_words(theirs, b.n_rows)
    page_ = words_of(report(r, date=DAY))
    assert "lost" not in page_ and "are not published" not in page_


# ---------------------------------------------------------------- names and values
def test_names_and_values_are_escaped(tmp_path):
    rng = np.random.default_rng(0)
    n = 60
    t = pd.DataFrame(
        {
            "<script>alert('x')</script>": rng.integers(0, 50, n),
            "$a_1$": rng.choice(["<b>bold</b>", "&amp;", '"quoted"', "x\ny"], n),
            "x" * 200: rng.choice(["</style><script>", "{{ 7 * 7 }}", "{% if %}"], n),
        }
    )
    tool = MondrianAnonymizer(k=3, quasi_identifiers=list(t)[:2], published=list(t)[2:])
    r = tool.anonymize(t)
    told = {"title": "</title><script>", "purpose": "<img src=x>", "owner": "{{ 7 * 7 }}"}
    for html in (report(r, date=DAY, **told), report(r, t, internal=True, date=DAY, **told)):
        assert_whole(html)
        assert "49" not in re.findall(r"Owner.*?</tr>", html)[0]
        assert html.count("<style>") == 1 and html.count("</style>") == 1
        assert "&lt;script&gt;" in html
        seen = re.sub('(alt|content)="[^"]*"', "", words_of(html)).replace("<wbr>", " ")
        assert "x" * 25 not in seen, "a long word may be broken"


@_given(st.text(max_size=30), st.text(max_size=30))
def test_pieces_escape_any_text(a, b):
    html = page(a, [text(b), table([(a, b)], (b, a))], b)
    found = Page(html)
    kinds = {t for t, _ in found.tags}
    assert kinds <= {
        *("html", "head", "meta", "title", "style", "body", "div", "p", "table", "thead", "tr"),
        *("th", "td", "tbody", "wbr"),
    }


# ---------------------------------------------------------------- words that a board knows
TERMS = re.compile(
    r"GCP|TIDI|C_avg|\bNCP\b|c above|no c for|entropy|discernib|\bCM\b|alpha|prosecutor"
)


@pytest.mark.parametrize(
    "tool",
    [
        MondrianAnonymizer(k=3, constraints=[LDiversity(2), Alpha(0.8), TCloseness(0.4)]),
        ClusterAnonymizer(k=3),
        ERPAnonymizer(k=3),
        MiCTAnonymizer(k=3),
        KActusAnonymizer(k=3),
    ],
    ids=lambda o: type(o).__name__,
)
def test_terms_stand_with_their_meaning(tool):
    r, t = customers(tool)
    for html in (report(r, date=DAY), report(r, t, internal=True, date=DAY)):
        plain = words_of(html)
        before, terms = plain.split(">Terms and numbers<")
        before = re.sub("<code>.*?</code>", "", before)
        assert not TERMS.search(before), TERMS.search(before)
        rows = re.findall(
            r"<tr><th scope=\"row\">(.*?)</th>\s*<td>.*?</td>\s*<td>(.*?)</td>", terms
        )
        assert rows and all(len(meaning) > 20 for _, meaning in rows)
        assert "--" not in before, "options stand in commands only"


def test_conditions_are_told(here):
    tool = MondrianAnonymizer(k=3, constraints=[LDiversity(2), Alpha(0.8)])
    html = report(customers(tool)[0], date=DAY)
    assert "every group has at least 2 different values of Bought" in html
    assert f"no value of Bought has more than {percent(0.8)} of a group" in html


def test_commands_make_the_release(here, ppdt):
    """The command on the page makes the same file"""
    line = f"{MAKE} --l-diversity 2 --recoding interval"
    ppdt(line, "-o out.csv")
    f = gather("out.csv", "customers.csv", internal=True)
    told = command_words(f)
    first = (here / "out.csv").read_bytes()
    code, _, err = ppdt(told.removeprefix("ppdt ").replace(" IN ", " customers.csv "))
    assert code == 0, err
    assert (here / "out.csv").read_bytes() == first


def test_recodings_of_the_owner_are_told(here, ppdt):
    ppdt(MAKE, "-o out.csv")
    at = schema_path(here / "out.csv")
    at.write_text(
        at.read_text().replace('"name": "Age",', '"name": "Age", "recoded": ["round 10"],')
    )
    html = report("out.csv", date=DAY)
    assert "recoded by its owner" in html and html.count("rounded to 10") == 2


def test_a_plan_that_recodes(here, capsys):
    """From a messy file by its plan: what was recoded is told, and nothing stands on stderr"""
    write_messy_files(here)
    assert cli.main("profile staff.csv -o plan.toml".split()) == 0
    r = program("anonymize plan.toml -o out.csv --report in.html --internal", here)
    assert r.returncode == 0 and not r.stderr and "in.html, a report (INTERNAL)" in r.stdout
    html = (here / "in.html").read_text("utf-8")
    assert_whole(html)
    assert "dates to the year" in html and "rounded to 100" in html
    assert "with columns recoded as above" in html and "as its owner recoded it" in html
    assert str(here) not in html and "staff.csv" not in html
    r = program("verify out.csv --original plan.toml", here)
    assert r.returncode == 0 and not r.stderr, r.stdout


def test_columns_that_tell_a_secret():
    t = pd.DataFrame({"age": [1, 1, 1, 2, 2, 2], "ill": list("aaaabc")})
    r = MondrianAnonymizer(k=3, quasi_identifiers=["age"], published=["ill"]).anonymize(t)
    (o,) = gather(r).secrets
    assert (o.known_rows, o.n_values, o.worst) == (3, 3, 1) and np.isclose(o.common, 4 / 6)
    assert f"ill of {percent(0.5)} of the rows" in report(r, date=DAY)


def test_rows_that_need_not_look_alike():
    r, t = customers(ERPAnonymizer(k=3))
    f = gather(r)
    assert crowd(f) is None and not f.secrets and f.holds is None
    html = report(r, date=DAY)
    assert (
        "its owner can see it beside the original" in html
        and "cannot be told from the file" in html
    )
    assert "look like no other" not in html
    f = gather(r, t, internal=True)
    assert crowd(f) == 3 and f.holds
    assert all(left is None for _, _, left in f.singles)


def test_rows_that_were_lost():
    r, t = customers(KActusAnonymizer(k=3))
    html = report(r, t, internal=True, date=DAY)
    assert len(r.lost) == 2 and "2 rows of the original are not published" in html


def test_warnings_name_no_option():
    r, t = customers(MiCTAnonymizer(k=3))
    found = warning_words(gather(r).audit)
    assert found and all(o.endswith(".") and o[0].isupper() for o in found)
    assert not any("=" in o or "--" in o for o in found)
    assert "Warnings" in report(r, date=DAY)


def test_a_table_that_is_all_hidden():
    t = pd.DataFrame({"age": range(6)})
    r = KActusAnonymizer(k=6).anonymize(t, pd.Series(list("ababab"), name="c"))
    html = report(r, t, internal=True, date=DAY)
    assert_whole(html)


def test_wide_tables_with_long_names():
    rng = np.random.default_rng(1)
    n = 500
    t = pd.DataFrame({f"column {i} of twelve": rng.integers(0, 30, n) for i in range(9)})
    t["town"] = [f"Town number {i:03}" for i in rng.integers(0, 100, n)]
    t["born"] = pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 9999, n), "D")
    t["paid"] = np.round(rng.lognormal(8, 1, n), 2)
    r = MondrianAnonymizer(k=5).anonymize(t)
    html = report(r, t, internal=True, date=DAY)
    assert_whole(html)
    assert len(html) < 1_000_000 and len(pictures(html)) == 13
    assert "others have" in "".join(pictures(html))


# ---------------------------------------------------------------- numbers
@pytest.mark.parametrize("k", [1, 2, 4, 5, 6, 10, 11, 12, 20])
def test_thresholds(k):
    t = pd.DataFrame({"age": np.arange(60) // k})
    f = gather(MondrianAnonymizer(k=1).anonymize(t))
    assert f.audit.k == min(np.bincount(t["age"]))
    for o, row in zip(THRESHOLDS, threshold_rows(f)):
        if o.least is not None:
            assert (row[-1] == "met") == (f.audit.k >= o.least)
        assert o.source


@_given(st.lists(st.integers(1, 60), max_size=20))
def test_bands(sizes):
    found = rows_in_bands(sizes)
    assert len(found) == len(BANDS) and np.isclose(sum(found), 1 if sizes else 0)
    alone = sum(o for o in sizes if o == 1) / max(sum(sizes), 1)
    few = sum(o for o in sizes if o < 11) / max(sum(sizes), 1)
    assert np.isclose(found[0], alone) and np.isclose(sum(found[:3]), few)


@_given(st.floats(0, 1))
def test_percent_is_never_rounded_away(x):
    words = percent(x)
    assert (words == "0\u00a0%") == (x == 0) and (words == "100\u00a0%") == (x == 1)


numbers = st.one_of(st.integers(-50, 50), st.floats(-1e6, 1e6))
number_cells = st.one_of(
    numbers.map(Exact),
    st.frozensets(numbers, min_size=1, max_size=4).map(ValueSet),
    st.tuples(numbers, numbers).map(lambda o: Interval(min(o), max(o))),
    numbers.map(Centroid),
    st.just(Suppressed()),
)
word_cells = st.one_of(
    st.frozensets(st.sampled_from("abcdefghijklmnopq"), min_size=1, max_size=4).map(ValueSet),
    st.sampled_from("AB").map(Node),
    st.just(Suppressed()),
)


some_cells = [st.lists(o, min_size=1, max_size=12, unique=True) for o in (number_cells, word_cells)]


@_given(st.one_of(*some_cells))
def test_shares(held):
    s = cell_column(list(range(len(held))), held)
    found = shares_of(s)
    parts = found.labels if found.edges is None else found.edges[1:]
    assert len(parts) == len(found.after) and all(o >= 0 for o in found.after)
    hidden = all(form_of(c) == "hidden" for c in held)
    assert np.isclose(sum(found.after), 1) or hidden and found.edges is not None


@_given(st.lists(st.integers(0, 40), min_size=2, max_size=30))
def test_shares_of_exact_values_are_those_of_the_original(values):
    s = pd.Series(values)
    found = shares_of(s, s)
    assert np.allclose(found.after, found.before)
    if found.edges is not None:
        assert np.isclose(found.after[0], np.mean(s < found.edges[1]))


def test_terms_without_an_audit():
    assert term_rows(None) == [] and warning_words(None) == []


def test_what_is_no_release(here):
    with pytest.raises(TextFormError, match="must have its schema"):
        report("customers.csv")
    with pytest.raises(CommandError, match="must be a DataFrame"):
        report(customers()[0], "customers.csv", internal=True)
    t = pd.DataFrame({"a": [1, 2]})
    t.to_csv("plain.csv", index=False)
    html = report(read_release("plain.csv", format="ppdt"), date=DAY)
    assert_whole(html)
    assert "Nothing was promised" in html


# ---------------------------------------------------------------- people with several rows
def test_people_with_several_rows_are_not_taken_for_rows(here, ppdt):
    """Each customer three times: by rows everybody would look three times as safe as he is"""
    t = pd.read_csv("customers.csv")
    pd.concat([t] * 3).to_csv("thrice.csv", index=False)
    line = "anonymize thrice.csv --qi Gender,Marital,Age --publish Bought --person customer --k 3"
    code, _, err = ppdt(line, "-o out.csv --report in.html --internal")
    assert code == 0, err
    f = gather("out.csv")
    p = f.persons
    assert p.total == 14 and p.fewest >= 3 and f.audit.k == 3 * p.fewest
    assert ppdt("report out.csv")[0] == 0
    html = words_of((here / "report.html").read_text("utf-8")).replace("\u00a0", " ")
    assert percent(1 / p.fewest).replace("\u00a0", " ") in html
    assert percent(1 / f.audit.k).replace("\u00a0", " ") not in html
    assert "counted by its owner" in html and "about 14 people" in html
    assert "prosecutor" not in html and "C_avg" not in html and "cannot show whether" in html
    # beside the original, people are counted there, too: nobody of 14 is alone in a row less
    inside = words_of((here / "in.html").read_text("utf-8"))
    assert "--person customer" in inside and "of 42 rows of the original" in inside
    told = gather("out.csv", "thrice.csv", internal=True, person="customer")
    assert told.before.persons == 14 and told.before.k < told.before.n_rows // 14
    assert gather("out.csv", "thrice.csv", internal=True).before is None
    code, _, err = ppdt("report out.csv --internal --original thrice.csv --person nobody")
    assert code == 2 and "--person" in err and "'nobody'" in err


def test_people_whom_nobody_counted_are_told_by_the_promise(here, ppdt):
    """As in files of earlier versions: the promise is all that is known of people"""
    t = pd.read_csv("customers.csv")
    pd.concat([t] * 3).to_csv("thrice.csv", index=False)
    ppdt("anonymize thrice.csv --qi Gender,Marital,Age --class Bought --person customer -o out.csv")
    at = schema_path(here / "out.csv")
    schema = json.loads(at.read_text())
    assert schema["promise"].pop("counted")["persons"] == 14
    at.write_text(json.dumps(schema))
    f = gather("out.csv")
    assert f.persons == (5, None, None) and crowd(f) == 5
    assert [o[-1] for o in threshold_rows(f)][:2] == ["met, if the promise holds", "not met: 5"]
    html = words_of(report("out.csv", date=DAY))
    assert "follows from the promise" in html and "people" in html and "42 rows about" not in html


def test_an_internal_report_counts_losses_from_the_file_on(here, ppdt):
    ppdt("profile customers.csv --class Bought -o plan.toml")
    plan = (here / "plan.toml").read_text()
    age = 'Age = {role = "quasi-identifier", kind = "number"'
    assert age in plan
    (here / "plan.toml").write_text(plan.replace(age, f'{age}, recode = ["round 20"]'))
    code, out, err = ppdt("anonymize plan.toml --k 3 -o out.csv --report in.html --internal")
    assert code == 0, err
    alone, whole = re.search(r"Age +(0\.\d+) by round 20, then (0\.\d+) in all", out).groups()
    for original in ("plan.toml", "customers.csv"):
        f = gather("out.csv", original, internal=True)
        found = next(c for c in f.columns if c.name == "Age").from_file
        assert [f"{o:.3f}" for o in found] == [alone, whole] and 0 < found[0] < found[1]
    html = words_of((here / "in.html").read_text("utf-8"))
    assert f"{percent(found[0])} went by the recoding alone" in html
    assert all(c.from_file is None for c in gather("out.csv").columns)
