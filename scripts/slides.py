"""Slides of a chapter: `python scripts/slides.py FOLDER [CHAPTER ...]`, all chapters without names.

FOLDER/01_leaks.html is one file that needs no network: arrow keys turn the slides, printing makes a
page of each. A slide is a heading with the first sentences below it, formulas, tables, short code
and all stored outputs; solutions, tests, exports and lists of deviations stay in the chapter.
Existing files are overwritten.
"""

import ast
import base64
import html
import json
import re
import struct
import sys
from pathlib import Path

from latex2mathml.converter import convert
from markdown_it import MarkdownIt

NBS = Path(__file__).resolve().parent.parent / "nbs"
LEFT_OUT = {"Deviations", "References", "Paper versus ours", "Next"}
MOST_LINES = 12  # of code, or of an output
FULL = 16  # lines of a slide; a picture is 11, a heading is not counted

STYLE = """
@page { size: 297mm 167mm; margin: 0; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: #1a1a1a;
  font: 26px/1.4 system-ui, 'DejaVu Sans', sans-serif; }
section { display: none; width: 100vw; height: 100vh; padding: 4vh 6vw 6vh; overflow: hidden; }
section.shown { display: flex; flex-direction: column; }
section > div { flex: 1; min-height: 0; overflow: hidden; }
h1 { font-size: 1.9em; margin: 25vh 0 .4em; } h2 { font-size: 1.35em; margin: 0 0 .6em; }
p, ul, ol { margin: .45em 0; } img { max-width: 100%; display: block;
  height: 50vh; object-fit: contain; object-position: left; } img.tall { height: 76vh; }
pre { font: .68em/1.4 'DejaVu Sans Mono', monospace; background: #f4f5f7; padding: .5em .8em;
  margin: .4em 0; white-space: pre-wrap; } pre.out { background: none;
  border-left: 3px solid #ccd; }
table { border-collapse: collapse; font-size: .72em; margin: .4em 0; }
th, td { padding: .15em .7em; border-bottom: 1px solid #ccd; text-align: left; }
footer { position: fixed; right: 2vw; bottom: 1.5vh; font-size: .55em; color: #666; }
@media print { section { display: flex; flex-direction: column; break-after: page; width: 297mm;
  height: 167mm; } footer { display: none; } }
"""
SCRIPT = """
const all = [...document.querySelectorAll('section')];
const foot = document.querySelector('footer');
let at = 0;
function fit(s) {
  const d = s.querySelector('div');
  for (let size = 100; d && d.scrollHeight > d.clientHeight + 1 && size > 45; size -= 5)
    d.style.fontSize = size + '%';
}
function show(i) {
  at = Math.max(0, Math.min(all.length - 1, i));
  all.forEach((s, j) => s.classList.toggle('shown', j === at));
  fit(all[at]);
  foot.textContent = `${at + 1} / ${all.length}`;
  location.replace('#' + (at + 1));
}
addEventListener('keydown', e => {
  const step = {ArrowRight: 1, PageDown: 1, ' ': 1, ArrowLeft: -1, PageUp: -1}[e.key];
  if (step) { e.preventDefault(); show(at + step); }
  if (e.key === 'Home') show(0);
  if (e.key === 'End') show(all.length - 1);
});
addEventListener('click', e => show(at + (e.clientX < innerWidth / 3 ? -1 : 1)));
addEventListener('beforeprint', () => all.forEach(s => { s.classList.add('shown'); fit(s); }));
addEventListener('afterprint', () => show(at));
show((parseInt(location.hash.slice(1)) || 1) - 1);
"""
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
ASIDE = re.compile(r"^:::.*?^:::\s*$|<details.*?</details>|<a id=[^>]*></a>", re.S | re.M)
MATH = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", re.S)


def source(cell):
    return "".join(cell["source"])


def formula(match):
    """MathML of a formula; its number is left to the chapter"""
    tex = re.sub(r"\\tag\{.*?\}", "", match[1] or match[2]).replace("{aligned}", "{align*}")
    return convert(tex, display="block" if match[1] else "inline")


def rendered(text):
    """HTML of some Markdown; links to other pages become their words, formulas MathML"""
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    kept = []

    def keep(match):
        kept.append(formula(match))
        return f"@@{len(kept) - 1}@@"

    made = MARKDOWN.render(MATH.sub(keep, text))
    return re.sub(r"@@(\d+)@@", lambda m: kept[int(m[1])], made)


def blocks_of_prose(text):
    """(HTML, lines) of a Markdown cell without its headings: a first sentence, formulas, tables,
    lists and captions
    """
    text = ASIDE.sub("", text)
    first = True
    for part in re.split(r"\n\s*\n", text.strip()):
        part = part.strip()
        if not part or part.startswith(("#", "**You need", "**Next", "**References")):
            continue
        if part.startswith(("|", "$$", "- ", "* ", "1. ")):
            yield rendered(part), 1 + part.count("\n") + 2 * part.startswith("$$")
        elif part.startswith("*") and part.endswith("*") or first:
            part = part if part.startswith("*") else first_sentence(part)
            yield rendered(part), 1 + len(part) // 90
            first = False


def first_sentence(paragraph):
    """A paragraph up to its first full stop"""
    whole = " ".join(paragraph.split())
    end = re.search(r"(?<![A-Z0-9])[.?!](?= [A-Z$`*\[])", whole)
    return whole[: end.end()] if end else whole


def outputs_of(cell):
    """(HTML, lines) of what a cell has stored"""
    for o in cell.get("outputs", []):
        data = o.get("data", {})
        if "image/png" in data:
            png = "".join(data["image/png"]).strip()
            width, height = struct.unpack(">II", base64.b64decode(png)[16:24])
            look, lines = ("tall", FULL) if height > 600 else ("wide", 11)
            yield f'<img class="{look}" alt="" src="data:image/png;base64,{png}">', lines
            continue
        text = "".join(o.get("text", [])) or "".join(data.get("text/plain", []))
        lines = text.strip("\n").splitlines()
        if lines and len(lines) <= MOST_LINES:
            yield f'<pre class="out">{html.escape(chr(10).join(lines))}</pre>', len(lines)


def without_checks(text):
    """Code of a cell without its asserts and tests"""
    lines = text.rstrip().splitlines()
    for node in ast.parse(text).body[::-1]:
        if re.match(r"assert\b|test_\w+\(", lines[node.lineno - 1]):
            del lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(lines).strip("\n")


def blocks_of_code(cell):
    """(HTML, lines) of a code cell: short code with what it prints, and pictures without theirs"""
    text = source(cell)
    shown = [] if re.match(r"\s*#\|", text) else list(outputs_of(cell))
    if len(shown) != 1 or "<img" in shown[0][0]:
        return shown
    code, (printed, lines) = without_checks(text), shown[0]
    n = code.count("\n") + 1
    if n > MOST_LINES:
        return shown
    return [(f"<pre>{html.escape(code)}</pre>{printed}", n + lines)]


def sections_of(nb):
    """(heading, blocks) of the parts of a chapter that are shown"""
    heading, blocks, skip = "", [], False
    for cell in nb["cells"][1:]:
        if cell["cell_type"] == "code":
            blocks += [] if skip else blocks_of_code(cell)
            continue
        parts = re.split(r"^(#{2,3} .+)$", source(cell), flags=re.M)
        for part in parts:
            if part.startswith("##"):
                yield heading, blocks
                heading, blocks = part.lstrip("# ").strip(), []
                skip = heading in LEFT_OUT
            elif not skip:
                blocks += blocks_of_prose(part)
        if heading == "Exercises":
            break
    yield heading, blocks


def slides_of(nb):
    """(heading, HTML) of each slide; what does not fit goes on, under the same heading"""
    for heading, blocks in sections_of(nb):
        page, used = [], 0
        for block, lines in blocks:
            if page and used + lines > FULL:
                yield heading, "\n".join(page)
                page, used = [], 0
            page.append(block)
            used += lines
        if page:
            yield heading, "\n".join(page)


def page_of(path):
    """The slides of a chapter, as one file"""
    nb = json.loads(Path(path).read_text("utf-8"))
    title, _, promise = source(nb["cells"][0]).partition("\n")
    title = html.escape(title.lstrip("# "))
    said = rendered(promise.strip().lstrip("> "))
    made = [f"<section><h1>{title}</h1>{said}</section>"]
    for heading, body in slides_of(nb):
        head = f"<h2>{rendered(heading)[3:-5]}</h2>" if heading else ""
        made.append(f"<section>{head}<div>{body}</div></section>")
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style></head><body>{''.join(made)}<footer></footer>"
        f"<script>{SCRIPT}</script></body></html>\n"
    )


def main(folder, *names):
    """Write the slides of some chapters, or of all"""
    there = {p.stem: p for p in sorted(NBS.glob("[0-9]*.ipynb"))}
    unknown = [o for o in names if o not in there]
    if unknown:
        sys.exit(f"no such chapter: {', '.join(unknown)}. There are {', '.join(there)}.")
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    for name in names or there:
        (out / f"{name}.html").write_text(page_of(there[name]), "utf-8")
        print(out / f"{name}.html")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
