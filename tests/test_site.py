"""The documentation site builds. `python tests/test_site.py [FOLDER]` leaves it in `_docs/` for
reading here.

nbdev processes the notebooks as `nbdev_docs` does, smalldocs renders them by `_quarto.yml`, and the
formulas become MathML, so that the pages need no network. The published site is made by Quarto.
Everything happens in a copy, so that nothing is left in the working tree.
"""

import html
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from configparser import ConfigParser
from importlib import import_module
from pathlib import Path

import places
import pytest

ROOT = places.ROOT
_tex = re.compile(r"\\\[(.+?)\\\]|\\\((.+?)\\\)", re.S)
_fonts = re.compile(r"@import\s+url\([^)]*\);")
_cdn = re.compile(r"\s*<(?:link|script)[^>]*https?://[^>]*>(?:</script>)?")
_process = """
import os
import sys
import warnings
from nbdev.quarto import refresh_quarto_yml
from nbdev.serve import proc_nbs
refresh_quarto_yml()                            # nbs/nbdev.yml, out of settings.ini
warnings.simplefilter("error", UserWarning)     # cells that import and compute at once
proc_nbs(n_workers=0, force=True)
# each page has left a shell that would clean up at the end, which takes longer than all before
sys.stdout.flush()
os._exit(0)
"""
# smalldocs asks for the class of each token of each line of code anew: a third of its time
_render = """
import sys
from functools import cache
from smalldocs import cli, highlight
highlight.css_class = cache(highlight.css_class)
sys.exit(cli.main(["render", "_proc"]))
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


def _with_braces(math):
    """MathML with tables of cases that draw their braces themselves, as styles.css says"""
    return re.sub(r"<mo[^>]*>(?:\{|&#x0007B;)</mo>\s*<mtable>", '<mtable class="cases">', math)


def _mathml(formula):
    """MathML of a formula; its number stands at the right"""
    from latex2mathml.converter import convert

    # the converter knows columns of formulas under this name
    tex = html.unescape(formula[1] or formula[2]).replace("{aligned}", "{align*}")
    if formula[2]:
        return convert(tex, display="inline")
    number = re.search(r"\\tag\{(.+?)\}", tex)
    if number is None:
        return _with_braces(convert(tex, display="block"))
    math = _with_braces(convert(tex.replace(number[0], ""), display="block"))
    math = f'<span class="formula">{math}</span>'
    return f'<span class="equation">{math}<span class="number">({number[1]})</span></span>'


def _address():
    """Where the published site stands, to which nbdev links the names of functions"""
    settings = ConfigParser(delimiters=["="])
    settings.read(ROOT / "settings.ini", "utf-8")
    docs = settings["DEFAULT"]
    return docs["doc_host"].rstrip("/") + "/" + docs["doc_baseurl"].strip("/") + "/"


def _published(names):
    """From addresses on the published site, where files have no numbers, to the pages here"""
    stripped = {p.with_name(re.sub(r"^\d+_", "", p.name)): p for p in names}
    return {_address() + short.as_posix(): p.as_posix() for short, p in stripped.items()}


def build(dest):
    """Build the site into the folder `dest`, which is replaced"""
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
        out = _run([sys.executable, "-c", _render], tmp)
        odd = [
            l
            for l in out.splitlines()
            if not re.search("output-file|^wrote|html.grid is ignored", l)
        ]
        assert not odd, "\n".join(odd)

        made = tmp / "_proc/_docs"
        places_of = _published(p.relative_to(made) for p in made.rglob("*.html"))
        for f in made.rglob("*.html"):
            up = "../" * len(f.relative_to(made).parent.parts)
            page = _tex.sub(_mathml, _cdn.sub("", f.read_text("utf-8")))
            for address, name in places_of.items():
                page = page.replace(f'href="{address}', f'href="{up}{name}')
            f.write_text(page, "utf-8")
        for f in made.rglob("*.css"):
            f.write_text(_fonts.sub("", f.read_text("utf-8")), "utf-8")
        shutil.rmtree(dest, ignore_errors=True)
        shutil.copytree(made, dest)
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
    keys = re.findall(r"@\w+\{(\w+),", (ROOT / "nbs/references.bib").read_text("utf-8"))
    raw_key = rf"\[(?:{'|'.join(keys)})\]"
    for name, txt in pages.items():
        for bad in "Traceback (most recent", "show_doc</span>(", '"co">#|':
            assert bad not in txt, f"{bad!r} stands on {name}"
        read = re.sub(r"<(pre|code|math|script|style)\b.*?</\1>", "", txt, flags=re.S)
        read = re.sub(r"<[^>]+>", "", read)
        for bad in (r"\]\([^)\s]+\)", r"^:::", r"^#\|", r"\\tag|\\\(|\\\[", raw_key):
            found = re.search(bad, read, re.M)
            assert not found, (
                f"raw Markdown on {name}: {read[found.start() - 60 : found.end() + 20]}"
            )
        formulas = re.sub(r"<[^>]+>", " ", " ".join(re.findall(r"<math.*?</math>", txt, re.S)))
        raw = re.search(r"\\[A-Za-z]+", formulas)
        assert not raw, f"a formula on {name} shows {raw[0]}"


def test_a_brace_spans_its_cases():
    """It is drawn by the style, since browsers need a font for mathematics to stretch one"""
    tex = r"\[f = \begin{cases} 0 & x \\ 1 & y \end{cases} \tag{1}\]"
    for formula in (tex, tex.replace(r"\tag{1}", "")):
        made = _tex.sub(_mathml, formula)
        assert made.count('<mtable class="cases">') == 1
        assert not re.search(r">(\{|&#x0007B;)<", made)
    style = (ROOT / "nbs/styles.css").read_text("utf-8")
    assert {"mtable.cases {", ".quarto-dark mtable.cases {"} <= set(
        re.findall(r"^(.*mtable\.cases \{)", style, re.M)
    )


def test_local_links_lead_somewhere(site, pages):
    """To a file, and to a place on its page; a page has each place once"""
    places_of = {name: re.findall(r'\sid="([^"]+)"', txt) for name, txt in pages.items()}
    lost = [
        f"{n}: twice #{o}" for n, ids in places_of.items() for o in set(ids) if ids.count(o) > 1
    ]
    for name, txt in pages.items():
        for href, place in re.findall(r'(?:href|src)="([^"#?:]*)(#[^"]*)?"', txt):
            to = os.path.normpath(Path(name).parent / href) if href else name
            if not (site / to).exists():
                lost.append(f"{name}: no file {href}")
            elif len(place) > 1 and to in pages and html.unescape(place[1:]) not in places_of[to]:
                lost.append(f"{name}: no place {href}{place}")
    assert not lost, "\n".join(lost)


def test_pages_ask_nobody_for_anything(site):
    """But for the badges of the front page, which are links as well"""
    asked = re.compile(r"""(?:src=|@import\s+(?:url)?\(?|url\()["']?(https?:[^"'\s)]+)""")
    files = [*site.rglob("*.html"), *site.rglob("*.css")]
    found = {o for f in files for o in asked.findall(f.read_text("utf-8"))}
    assert {o.rpartition("/")[2] for o in found} <= {"colab-badge.svg", "badge_logo.svg"}, found


def test_every_public_name_has_a_place(pages):
    from ppdt._modidx import d

    shown = {name for txt in pages.values() for name in re.findall(r">(\w+)<", txt)}
    names = {
        sym.removeprefix(mod + ".")
        for mod, syms in d["syms"].items()
        for sym in syms
        if "._" not in mod
    }
    lost = sorted(o for o in names if o[0] != "_" and "." not in o and o not in shown)
    assert not lost, f"no page shows {lost}"


def _sidebar(page):
    """Links and titles of the sidebar of a page, in its order"""
    nav = re.search(r'<nav id="quarto-sidebar".*?</nav>', page, re.S)[0]
    links = re.findall(r'<a[^>]*href="([^"]+)"[^>]*>(.*?)</a>', nav, re.S)
    texts = [(href, re.sub(r"<[^>]+>", "", text).strip()) for href, text in links]
    return [(href.removeprefix("./"), html.unescape(text)) for href, text in texts if text]


def _title(page):
    """The large title of a page"""
    return html.unescape(re.search(r'<h1 class="title"[^>]*>(.*?)</h1>', page, re.S)[1])


def test_sidebar_shows_every_page(pages):
    shown = [href for href, _ in _sidebar(pages["index.html"])]
    assert sorted(set(shown)) == sorted(pages), set(shown) ^ set(pages)


def test_chapters_have_numbers(pages):
    """From the file name: before the title and in the sidebar; other pages have none"""
    titles = dict(_sidebar(pages["index.html"]))
    for name, page in pages.items():
        number = re.match(r"(\d+)_", name)
        wanted = f"{int(number[1])} " if number else ""
        nb = json.loads((ROOT / "nbs" / name).with_suffix(".ipynb").read_text("utf-8"))
        title = "".join(nb["cells"][0]["source"]).splitlines()[0].removeprefix("# ")
        assert _title(page) == titles[name] == wanted + title, name


def test_pages_lead_to_their_neighbours(pages):
    """Each page has links to the pages before and after it in the sidebar, with their titles"""
    titles = dict(_sidebar(pages["index.html"]))
    order = list(titles)
    assert order[0] == "index.html"
    for i, name in enumerate(order):
        links = re.search(r'<div class="reading-order">(.*?)</div>', pages[name], re.S)
        found = re.findall(r'<a href="([^"]+)" class="(\w+)">(.*?)</a>', links[1])
        found = [(os.path.normpath(Path(name).parent / o), way, t) for o, way, t in found]
        before = [(o, "previous", f"← {titles[o]}") for o in order[max(i - 1, 0) : i]]
        after = [(o, "next", f"{titles[o]} →") for o in order[i + 1 : i + 2]]
        found = [(o, way, html.unescape(text)) for o, way, text in found]
        at_work = [o for o in found if o[1] in ("notebook", "browser")]
        assert [o for o in found if o not in at_work] == before + after, name
        source = Path("nbs", name).with_suffix(".ipynb").as_posix()
        copied = not name.startswith(("engine/", "class/"))
        assert [o[1] for o in at_work] == ["notebook", "browser"][: 1 + copied], name
        assert links[1].count(f'/{source}"') == 1, name
        assert links[1].count(f'/lite/notebooks/index.html?path={source}"') == copied, name
        assert "nav-page" not in pages[name], f"{name} has links of the site builder as well"


@pytest.fixture(scope="module")
def entries(pages):
    """What the site shows of a name, from its heading to its code, on all pages that define it"""
    found = defaultdict(str)
    for page in pages.values():
        for part in re.split(r">(?=\w+</h3>)", page)[1:]:
            name, _, rest = part.partition("</h3>")
            found[name] += rest.partition('<details class="code-fold"')[0]
    return found


def test_classes_show_what_they_inherit_from_private_classes(entries):
    for cls, wanted in {
        "Anonymizer": ["Methods", ">fit(X, y=None)<", ">anonymize(X, y=None)<", "<code>guarantee<"],
        "MondrianAnonymizer": ["Parameters", "Inherited from", "<code>anonymize</code>"],
        "Taxonomy": ["Class methods", *(f">{o}(" for o in _made_by())],
        "C45Classifier": ["<code>fit", "<code>predict_proba", "<code>confidence<"],
    }.items():
        entry = entries[cls]
        for o in wanted:
            assert o in entry, f"the page of {cls} lacks {o}"


def _made_by():
    from ppdt.generalization import Taxonomy

    return [o for o in dir(Taxonomy) if o.startswith("from_")]


def test_functions_show_their_sections(entries):
    """What stands in the docstring of a public name stands on its page"""
    lost = []
    for path in (ROOT / "ppdt").glob("[a-z]*.py"):
        module = import_module(f"ppdt.{path.stem}")
        for name in module.__all__:
            doc = inspect.getdoc(getattr(module, name)) or ""
            if not inspect.isroutine(getattr(module, name)):
                continue
            entry = entries[name]
            headings = re.findall(r"^([A-Z]\w+)\n-{3,}$", doc, re.M)
            lost += [(name, o) for o in headings if f"<strong>{o}</strong>" not in entry]
    assert not lost, lost


def test_solutions_are_folded(pages):
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


def test_glossary_has_words_once_and_names_that_exist():
    nb = json.loads((ROOT / "nbs/glossary.ipynb").read_text("utf-8"))
    lines = [l for c in nb["cells"] for l in "".join(c["source"]).splitlines()]
    code = "\n".join(p.read_text("utf-8") for p in (ROOT / "ppdt").rglob("*.py"))
    words, inside = [], False
    for line in lines:
        inside = line.startswith("| word | name in the code") or inside and line.startswith("|")
        if inside and not line.startswith(("| word |", "|---")):
            word, names = (o.strip() for o in re.split(r"\|", line)[1:3])
            words.append(word)
            for name in re.findall(r"\w+", " ".join(re.findall(r"`(.+?)`", names))):
                assert re.search(rf"\b{name}\b", code), f"{word}: nothing is called {name}"
    assert len(words) == len(set(words)), sorted(o for o in words if words.count(o) > 1)


if __name__ == "__main__":
    print(build(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "_docs"))
