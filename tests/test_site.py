"""The documentation site builds. `python tests/test_site.py [FOLDER]` leaves it in `_docs/` for
reading here.

nbdev processes the notebooks as `nbdev_docs` does, smalldocs renders them by `_quarto.yml`, and the
formulas become MathML, so that the pages need no network. The published site is made by Quarto.
Everything happens in a copy, so that nothing is left in the working tree.
"""

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import places
import pytest

ROOT = places.ROOT
_tex = re.compile(r"\\\[(.+?)\\\]|\\\((.+?)\\\)", re.S)
_cdn = re.compile(r"\s*<(?:link|script)[^>]*https?://[^>]*>(?:</script>)?")
_process = """
import warnings
from nbdev.quarto import refresh_quarto_yml
from nbdev.serve import proc_nbs
refresh_quarto_yml()                            # nbs/nbdev.yml, out of settings.ini
warnings.simplefilter("error", UserWarning)     # cells that import and compute at once
proc_nbs(n_workers=0, force=True)
"""


def _run(cmd, where):
    env = dict(os.environ, PYTHONPATH=str(where), MPLBACKEND="agg")
    r = subprocess.run(
        [str(o) for o in cmd],
        cwd=where,
        env=env,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert r.returncode == 0, f"{r.stdout[-4000:]}\n{r.stderr[-4000:]}"
    return r.stdout + r.stderr


def build(dest):
    """Build the site into the folder `dest`, which is replaced"""
    from latex2mathml.converter import convert

    with tempfile.TemporaryDirectory() as tmp:
        tmp = Path(tmp).resolve()
        for name in "settings.ini", "_quarto.yml":
            shutil.copy(ROOT / name, tmp)
        for name in "nbs", "ppdt":
            shutil.copytree(
                ROOT / name,
                tmp / name,
                ignore=shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__"),
            )
        _run([sys.executable, "-c", _process], tmp)
        out = _run([Path(sys.executable).parent / "smalldocs", "render", "_proc"], tmp)
        odd = [
            l
            for l in out.splitlines()
            if not re.search("output-file|^wrote|html.grid is ignored", l)
        ]
        assert not odd, "\n".join(odd)

        def mathml(m):
            return convert(html.unescape(m[1] or m[2]), display="block" if m[1] else "inline")

        for f in (tmp / "_proc/_docs").rglob("*.html"):
            f.write_text(_tex.sub(mathml, _cdn.sub("", f.read_text("utf-8"))), "utf-8")
        shutil.rmtree(dest, ignore_errors=True)
        shutil.copytree(tmp / "_proc/_docs", dest)
    return dest


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return build(tmp_path_factory.mktemp("site") / "_docs")


@pytest.fixture(scope="module")
def pages(site):
    return {p.relative_to(site).as_posix(): p.read_text("utf-8") for p in site.rglob("*.html")}


def test_every_notebook_has_a_page(pages):
    nbs = [p.relative_to(ROOT / "nbs") for p in (ROOT / "nbs").rglob("*.ipynb")]
    assert set(pages) == {
        p.with_suffix(".html").as_posix() for p in nbs if not any(o[0] in "._" for o in p.parts)
    }


def test_pages_are_whole(pages):
    for name, txt in pages.items():
        for bad in "Traceback (most recent", "show_doc</span>(", '"co">#|':
            assert bad not in txt, f"{bad!r} stands on {name}"


def test_local_links_lead_somewhere(site, pages):
    for name, txt in pages.items():
        for href in re.findall(r'(?:href|src)="([^"#?:]+)(?:#[^"]*)?"', txt):
            assert ((site / name).parent / href).exists(), (
                f"{name} points to {href}, which is not there"
            )


def test_every_public_name_has_a_place(pages):
    from ppdt._modidx import d

    names = {
        sym: sym.removeprefix(mod + ".")
        for mod, syms in d["syms"].items()
        for sym in syms
        if "._" not in mod
    }
    lost = [
        sym
        for sym, short in names.items()
        if short[0] != "_"
        and "." not in short
        and not any(f">{short}<" in t for t in pages.values())
    ]
    assert not lost, f"no page shows {lost}"


def test_solutions_are_folded(pages):
    import json

    marked = [
        p
        for p in (ROOT / "nbs").rglob("*.ipynb")
        if p.name[0] != "_"
        and any(
            c["cell_type"] == "code" and "".join(c["source"]).startswith("#| solution")
            for c in json.loads(p.read_text("utf-8"))["cells"]
        )
    ]
    assert marked
    for p in marked:
        page = pages[p.relative_to(ROOT / "nbs").with_suffix(".html").as_posix()]
        folded = re.findall(r'<details class="solution">.*?</details>', page, re.S)
        assert folded and all('class="sourceCode' in o or "<pre" in o for o in folded), p.name


if __name__ == "__main__":
    print(build(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "_docs"))
