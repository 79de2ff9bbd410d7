"""A command that is told to stop leaves all of its files or none, and no half one, whenever it is
told.

The signals are sent by the process to itself at a chosen line, so that nothing depends on time.
"""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest

from ppdt import cli
from ppdt.datasets import load_customers
from ppdt.engine import files, interrupts, program
from ppdt.engine.files import write_together
from ppdt.engine.interrupts import Interrupted, signals_raise, uninterrupted
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import read_release
from ppdt.tables import atomic_write, schema_path, write_text

# a signal between `open` and `with` leaves a file to be closed by the collector of garbage
pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="signals of Unix"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def _limit_of_csv():
    """What the csv module allows, which is one number for all, is as before"""
    before = csv.field_size_limit()
    yield
    csv.field_size_limit(before)


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def _signals_as_in_a_terminal():
    """A process in the background ignores some, and so do its tests"""
    defaults = (signal.default_int_handler, signal.SIG_DFL, signal.SIG_DFL)
    before = [signal.signal(o, h) for o, h in zip(SIGNALS, defaults)]
    yield
    for o, h in zip(SIGNALS, before):
        signal.signal(o, h)


# ---------------------------------------------------------------- signals as exceptions


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_becomes_an_exception(number):
    before = signal.getsignal(number)
    with pytest.raises(Interrupted) as e, signals_raise():
        signal.raise_signal(number)
    assert e.value.number == number and signal.getsignal(number) == before


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_waits_for_the_end_of_a_block(number):
    done = []
    with pytest.raises(Interrupted) as e, signals_raise():
        with uninterrupted():
            with uninterrupted():
                signal.raise_signal(number)
                done.append(1)
            done.append(2)
        done.append(3)
    assert e.value.number == number and done == [1, 2]


def test_ctrl_c_waits_outside_of_the_command_too():
    done = []
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append(1)
        done.append(2)
    assert done == [1, 2] and signal.getsignal(signal.SIGINT) == before


def test_a_second_signal_does_not_disturb_the_tidying_up():
    done = []
    with pytest.raises(Interrupted), signals_raise():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGHUP)
            done.append("tidied")
    assert done == ["tidied"]
    # but who swallows one exception can be stopped by the third
    with pytest.raises(Interrupted), signals_raise():
        for _ in range(3):
            try:
                signal.raise_signal(signal.SIGTERM)
            except Interrupted:
                done.append("swallowed")
                if len(done) > 2:
                    raise
    assert done == ["tidied", "swallowed", "swallowed"]


def test_who_ignores_a_signal_goes_on_ignoring_it():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals_raise(), uninterrupted():
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_are_left_alone():
    done = []

    def work():
        with signals_raise(), uninterrupted():
            done.append(signal.getsignal(signal.SIGTERM))

    t = threading.Thread(target=work)
    t.start()
    t.join()
    assert done == [signal.getsignal(signal.SIGTERM)]


# ---------------------------------------------------------------- at every line


def stop_at(line, number, call, files=("files", "releases", "demo_page", "interrupts")):
    """Call, and send this process a signal at the n-th line that runs in some modules.

    Gives its exit code, 128 and more for a signal that went through, and whether so many lines ran.
    """
    lines = 0
    watched = tuple(f"{os.sep}engine{os.sep}{o}.py" for o in files)

    def count(frame, event, arg):
        nonlocal lines
        if not frame.f_code.co_filename.endswith(watched):
            return None
        if event == "line":
            lines += 1
            if lines == line:
                signal.raise_signal(number)
        return count

    before = sys.gettrace()
    try:
        # whoever installs handlers inside finds these, and a signal never ends the tests
        with signals_raise():
            sys.settrace(count)
            try:
                code = call() or 0
            finally:
                sys.settrace(before)
    except Interrupted as e:
        code = 128 + e.number
    return code, lines >= line


def _names(folder):
    return sorted(o.name for o in folder.iterdir())


def _every_line(call, check, step=1):
    """Stop a call at its lines, one after the other; how many times it was stopped"""
    line = 0
    while True:
        line += step
        number = SIGNALS[line % len(SIGNALS)]
        code, reached = stop_at(line, number, call)
        if not reached:
            assert code == 0
            return line
        assert code == 128 + number, (line, number, code)
        check()


@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
def test_anonymize_leaves_all_or_nothing(tmp_path, monkeypatch, out, capsys):
    monkeypatch.chdir(tmp_path)
    load_customers().to_csv("in.csv", index=False)
    words = f"anonymize in.csv --qi Gender,Marital,Age --k 3 --class Bought -o {out}".split()
    seen = set()

    def check():
        names = _names(tmp_path)
        seen.add(len(names))
        if names != ["in.csv"]:
            assert names == sorted(["in.csv", out, schema_path(out).name])
            assert read_release(out).audit.k >= 3
            os.remove(out)
            os.remove(schema_path(out))

    stopped = _every_line(lambda: cli.main(words), check, step=11)
    assert stopped > 100 and 1 in seen


def test_an_old_release_stays_or_is_replaced_whole(tmp_path):
    customers = load_customers()
    X, y = customers.drop(columns="Bought"), customers.Bought
    old = MondrianAnonymizer(k=3).anonymize(X, y)
    new = MondrianAnonymizer(k=7, quasi_identifiers=["Age"]).anonymize(X[["Age"]], y)
    out = tmp_path / "out.csv"
    old.to_csv(out)
    files = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

    def check():
        assert _names(tmp_path) == sorted(files)
        now = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
        if now != files:
            assert all(now[o] != files[o] for o in files) and read_release(out).audit.k == 7
            old.to_csv(out)

    assert _every_line(lambda: new.to_csv(out), check) > 20


def test_demo_leaves_all_or_nothing(tmp_path, monkeypatch, capsys):
    """The writing of the demonstration, on a small table; what is before it writes nothing"""
    from ppdt.engine.demo import Demo, run_demo
    from ppdt.engine.demo_page import write_demo

    c = load_customers()
    people = {"train": c, "test": c, "class_name": "Bought"}
    names = {"quasi_identifiers": ["Gender", "Age"], "features": ["Gender", "Marital"]}
    d = Demo(name="shop", title="a shop", source="a paper", **people, **names)
    monkeypatch.setattr("ppdt.engine.demo.KS", (2,))
    res = run_demo(d, 2)
    monkeypatch.setattr("ppdt.engine.demo_page.demo_page", lambda *args: "<html></html>")
    out = tmp_path / "demo"

    def write():
        write_demo(d, res, out)

    def check():
        if out.exists():
            assert len(_names(out)) == 3 and (out / "report.html").exists()
            assert read_release(out / "release.csv").audit.k >= 2
            for o in out.iterdir():
                o.unlink()
            out.rmdir()
        assert _names(tmp_path) == []

    assert _every_line(write, check, step=4) > 50


# ---------------------------------------------------------------- as a program

STOPPED = f"{interrupts.STOPPED}\n"
PROGRAM = """
import signal, sys
from ppdt import cli
from ppdt.engine import files

real = getattr(files, {where!r})

def stop(*args):
    real(*args)
    signal.raise_signal({number})

setattr(files, {where!r}, stop)
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.parametrize("number, end", [*((o, "csv") for o in SIGNALS), (SIGNALS[0], "parquet")])
def test_the_program_that_is_stopped_while_it_writes(tmp_path, number, end):
    load_customers().to_csv(tmp_path / "in.csv", index=False)
    words = f"anonymize in.csv --qi Gender,Marital,Age --publish Bought --k 3 -o out.{end}".split()
    heed = lambda: [signal.signal(o, signal.SIG_DFL) for o in SIGNALS]
    r = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(where=f"_to_{end}", number=int(number)), *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        preexec_fn=heed,
    )
    assert (r.returncode, r.stdout, r.stderr) == (128 + number, "", STOPPED)
    assert _names(tmp_path) == ["in.csv"]


def test_the_exit_codes_of_the_command(tmp_path, capsys):
    def stopped(number):
        return lambda args: signal.raise_signal(number)

    for number, code in zip(SIGNALS, (130, 143, 129)):
        parser = cli.make_parser()
        parser.set_defaults(run=stopped(number))
        real, cli.make_parser = cli.make_parser, lambda: parser
        try:
            assert cli.main([]) == code
        finally:
            cli.make_parser = real
    assert capsys.readouterr() == ("", 3 * STOPPED)


# ---------------------------------------------------------------- every step of the owner's day

STEPS = {
    "profile": ("profile shop.csv -o new.toml", ["new.toml"]),
    "compare": (
        "compare plan.toml --k 3 --modes strict --folds 2 --jobs 1 --most-risk 1 --most-gain 1"
        " -o new.html --csv new.csv --choose",
        ["new.html", "new.csv", "plan.toml"],
    ),
    "anonymize": (
        "anonymize plan.toml -o new.csv --report new.html",
        ["new.csv", "new.csv.schema.json", "new.html"],
    ),
    "report": ("report out.csv -o report.html", ["report.html"]),
    "verify": ("verify out.csv --original plan.toml", []),
    "keys": ("sign --new-key new.pem", ["new.pem", "new.pem.pub"]),
    "sign": ("sign out.csv --key owner.pem", ["out.csv.sig"]),
    "learn": ("learn out.csv --folds 2 -o new.json", ["new.json"]),
    "predict": ("predict tree.json shop.csv -o new.csv", ["new.csv"]),
    "publish": (
        "publish tree.json --text new.txt --svg new.svg --sql new.sql",
        ["new.txt", "new.svg", "new.sql"],
    ),
}
# files that are written one after the other: each whole, and these first
FIRST = {"anonymize": ["new.csv", "new.csv.schema.json"]}


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    """A folder with a file of each kind that a step reads"""
    folder = tmp_path_factory.mktemp("office")
    t = load_customers()
    pd.concat([t] * 4).reset_index(drop=True).to_csv(folder / "shop.csv", index=False)
    before = Path.cwd()
    os.chdir(folder)
    try:
        for line in (
            "profile shop.csv --class Bought -o plan.toml",
            "anonymize plan.toml --k 2 -o out.csv",
            "learn out.csv --folds 0 -o tree.json",
            "sign --new-key owner.pem",
        ):
            assert cli.main(line.split()) == 0
    finally:
        os.chdir(before)
    return folder


def _to_a_file(path):
    """What this process says, from now on"""
    sys.stdout = open(os.devnull, "w")
    sys.stderr = open(path, "w")


def _run_and_stop(words, folder, told):
    """Run a command once. From its 10th, 100th, ... function on, and from each line of its writing,
    a process goes its own way, in a copy of the folder, and gets Ctrl-C there. Writes exit codes.
    """
    children, calls, written, whole = {}, 0, 0, True
    real = files.write_together

    def stop(name):
        nonlocal whole
        copy = told.parent / name
        shutil.copytree(folder, copy)
        pid = os.fork()
        if pid:
            children[pid] = name
            return
        whole = False
        sys.settrace(None)
        os.chdir(copy)
        _to_a_file(copy.with_suffix(".said"))
        os.kill(os.getpid(), signal.SIGINT)

    def call(frame, event, arg):
        nonlocal calls
        if whole and f"{os.sep}ppdt{os.sep}" in frame.f_code.co_filename:
            calls += 1
            if calls in (10, 100, 1000):
                stop(f"call{calls}")
            if calls == 1000 and whole:
                sys.settrace(None)

    def line(frame, event, arg):
        nonlocal written
        if event == "line" and whole:
            written += 1
            stop(f"line{written}")
        return line

    def write(writes):
        if not whole:
            return real(writes)
        before = sys.gettrace()
        sys.settrace(lambda frame, *_: line if frame.f_code is real.__code__ else None)
        try:
            return real(writes)
        finally:
            sys.settrace(before if whole else None)

    for o in list(sys.modules.values()):
        if getattr(o, "write_together", None) is real:
            o.write_together = write
    os.chdir(folder)
    _to_a_file(told.with_suffix(".said"))
    sys.settrace(call)
    code = cli.main(words)
    sys.settrace(None)
    if not whole:
        sys.stderr.flush()
        os._exit(code)
    codes = {children[pid]: os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children}
    told.write_text(json.dumps(codes | {"": code}))


def _contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked at chosen moments")
@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_is_stopped_leaves_all_or_nothing(office, tmp_path, step):
    line, new = STEPS[step]
    told = tmp_path / "codes.json"
    shutil.copytree(office, tmp_path / "whole")
    before = _contents(office)
    pid = os.fork()
    if not pid:
        try:
            _run_and_stop(line.split(), tmp_path / "whole", told)
        finally:
            os._exit(1)
    os.waitpid(pid, 0)
    codes = json.loads(told.read_text())
    assert codes.pop("") == 0 and len(codes) > (8 if new else 2)
    for name, code in (codes | {"whole": 130}).items():
        now = _contents(tmp_path / name)
        changed = {o for o in now.keys() | before.keys() if now.get(o) != before.get(o)}
        if name == "whole":
            assert changed == set(new)
            continue
        assert (code, (tmp_path / f"{name}.said").read_text()) == (130, STOPPED), name
        assert changed in (set(), set(new), set(FIRST.get(step, []))), (name, changed)


def test_a_signal_waits_for_the_end_of_an_import(tmp_path, monkeypatch):
    """Extensions make an ImportError of it, which others take for a package that is not there"""
    words = "import signal\nsignal.raise_signal(signal.SIGINT)\nsum(range(10**6))\nwhole = True\n"
    (tmp_path / "told_to_stop_while_it_is_read.py").write_text(words)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Interrupted), signals_raise():
        import told_to_stop_while_it_is_read as module

        threading.Event().wait(5)
    assert module.whole


def test_the_program_that_is_stopped_while_it_is_read(monkeypatch, capsys):
    def stop(*args):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(cli, "main", stop)
    assert program.program() == 130
    assert capsys.readouterr() == ("", STOPPED)


# ---------------------------------------------------------------- all files or none


def test_files_are_written_together_or_not_at_all(tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text("old")
    text = lambda s: lambda tmp: Path(tmp).write_text(s)

    def fail(tmp):
        Path(tmp).write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_together([(a, text("new")), (b, fail)])
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder; choose another path"):
        write_together([(a, text("new")), (tmp_path / "folder", text("new"))])
    with pytest.raises(FileNotFoundError, match="does not exist; make it"):
        write_together([(a, text("new")), (tmp_path / "none" / "b.csv", text("new"))])
    assert a.read_text() == "old" and _names(tmp_path) == ["a.csv", "folder"]
    write_together([(a, text("new")), (b, text("new"))])
    assert a.read_text() == b.read_text() == "new" and _names(tmp_path) == [
        "a.csv",
        "b.csv",
        "folder",
    ]
    atomic_write(a, text("newer"))
    assert a.read_text() == "newer"


def test_nobody_else_reads_a_file_that_is_being_written(tmp_path):
    seen = []
    atomic_write(tmp_path / "a.csv", lambda tmp: seen.append(os.stat(tmp).st_mode & 0o777))
    write_text(pd.DataFrame({"a": ["1"]}), tmp_path / "b.csv")
    mask = os.umask(0)
    os.umask(mask)
    assert seen == [0o600] and (tmp_path / "b.csv").stat().st_mode & 0o777 == 0o666 & ~mask
