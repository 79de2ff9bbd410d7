"""What the benchmarks share: data, machine facts, fresh processes, results, and the numbers in
README.md.
"""

import os

# before numpy is imported
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
import functools
import json
import platform
import re
import statistics
import subprocess
import sys
import time
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "results"
README = HERE / "README.md"
ADULT_QI = [
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
    "hours-per-week",
]
POPULATION_QI = ["age", "education", "occupation", "marital_status", "region", "hours"]


def find_data():
    """Let fetch_adult find the tables in ../shared/data when PPDT_DATA does not say
    where they are
    """
    folder = ROOT.parent / "shared" / "data"
    if not os.environ.get("PPDT_DATA") and (folder / "adult_train.csv").is_file():
        os.environ["PPDT_DATA"] = str(folder)


def load():
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _cpu():
    try:
        return re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())[1].strip()
    except (OSError, TypeError):
        return platform.processor() or platform.machine()


@functools.cache
def machine():
    """Where, when and with what something was measured; columns of every results file"""
    import numpy
    import pandas

    import ppdt

    try:
        commit = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
        ).stdout.strip()
    except OSError:
        commit = ""
    return dict(
        date=time.strftime("%Y-%m-%d %H:%M"),
        ppdt=ppdt.__version__,
        commit=commit,
        python=platform.python_version(),
        numpy=numpy.__version__,
        pandas=pandas.__version__,
        system=platform.system(),
        cpu=_cpu(),
        cores=os.cpu_count(),
    )


def resident():
    """Bytes of memory this process holds now (where the system does not say: held at
    most so far)
    """
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak()


def peak():
    """Bytes of memory this process held at most.

    Linux's VmHWM goes first: ru_maxrss may begin with the parent's size.
    """
    try:
        return int(re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
    except (OSError, TypeError):
        pass
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )


def call(*command):
    """Run a command in a fresh process; the JSON it prints last, or None when it prints none"""
    r = subprocess.run(
        [str(o) for o in command], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    if r.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{r.stdout}{r.stderr}")
    return json.loads(r.stdout.splitlines()[-1]) if r.stdout.strip() else None


def environment(env, pins, name):
    """The interpreter of a rival's environment, made with pip on first use; None, with the reason
    printed, when that fails
    """
    python, stamp = (
        env / ("Scripts/python.exe" if os.name == "nt" else "bin/python"),
        env / "requirements.txt",
    )
    if stamp.is_file() and stamp.read_text("utf-8") == pins.read_text("utf-8"):
        return python
    print(f"making {name}'s environment in {env}", flush=True)
    try:
        venv.create(env, clear=True, with_pip=True)
        subprocess.run(
            [
                str(python),
                "-m",
                "pip",
                "install",
                "-q",
                "--disable-pip-version-check",
                "-r",
                str(pins),
            ],
            check=True,
            capture_output=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError) as e:
        print(
            f"{name} could not be installed, so there is no comparison:"
            f" {(getattr(e, 'stderr', None) or str(e)).strip().splitlines()[-1]}",
            file=sys.stderr,
        )
        return None
    stamp.write_text(pins.read_text("utf-8"), "utf-8")
    return python


def median(values):
    return statistics.median(values)


def spread(values, form="{:.2f}"):
    """`median (smallest-largest)`"""
    v = sorted(values)
    return form.format(median(v)) + (
        "" if len(v) == 1 else f" ({form.format(v[0])}-{form.format(v[-1])})"
    )


def markdown(head, rows):
    """A table in Markdown"""
    return "\n".join(
        "| " + " | ".join(map(str, o)) + " |" for o in [head, ["---"] * len(head), *rows]
    )


def verdict(text, holds):
    return f"- {text}: **{'holds' if holds else 'missed'}**"


def facts(t):
    """One line about a results file: when, where, with what"""
    o, loads = t.iloc[0], t["load"].dropna()
    return (
        f"{o.date}, ppdt {o['ppdt']}{'' if o.commit != o.commit else f' ({o.commit})'}, Python"
        f" {o.python}, numpy {o.numpy}, pandas {o.pandas}, {o.cpu}, {o.cores} cores, one thread; "
        + (f"load {loads.min():g} to {loads.max():g}" if len(loads) else "load unknown")
    )


def write(rows, path):
    """Results as a CSV file"""
    import pandas as pd

    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, index=False, lineterminator="\n")
    return path


def readme_block(name, text=None):
    """The numbers of a benchmark in README.md, between two marks; replaced by `text` where one is
    given
    """
    whole = README.read_text("utf-8")
    m = re.search(rf"(<!-- {name} -->\n)(.*?)(<!-- end -->)", whole, re.S)
    if m is None:
        raise SystemExit(f"README.md has lost the marks of {name}")
    if text is not None and text != m[2].rstrip("\n"):
        README.write_text(whole[: m.start(2)] + text + "\n" + whole[m.end(2) :], "utf-8")
    return m[2].rstrip("\n") if text is None else text


def finish(name, report, out, strict):
    """Print a report; store it in README.md when its numbers are the project's own;
    the exit code
    """
    text = report(out)
    print("\n" + text)
    if out == RESULTS:
        readme_block(name, text)
    return int(strict and "**missed**" in text)


def options(doc, **extra):
    """The options that all benchmarks know"""
    import argparse

    p = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument(
        "--quick",
        action="store_true",
        help=(
            "a few invented people, no rival, one run: does the script work? Nothing is stored"
            " unless --out is given"
        ),
    )
    p.add_argument(
        "--out",
        type=Path,
        help=(
            "folder for the results (default: benchmarks/results; README.md is brought up to date"
            " only then)"
        ),
    )
    p.add_argument("--strict", action="store_true", help="exit code 1 when a goal is missed")
    for o, kw in extra.items():
        p.add_argument("--" + o.replace("_", "-"), **kw)
    return p
