"""Write README.md from nbs/index.ipynb. With --check, only say whether they agree.

    python scripts/make_readme.py [--check]

Prose is copied, code becomes fenced blocks, stored text outputs follow their code, stored pictures
go to nbs/images. Links are turned so that they work from the top of the repository.
"""

import base64
import json
import posixpath
import re
import sys
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE, README, IMAGES = ROOT / "nbs/index.ipynb", ROOT / "README.md", "nbs/images"
NOTE = (
    "<!-- Made from nbs/index.ipynb by scripts/make_readme.py: edit the notebook, then run the"
    " script. -->"
)


def text(o):
    return "".join(o) if isinstance(o, list) else o


def turn_links(md):
    """Links relative to nbs/ become relative to the top; addresses of this repository lose their
    host
    """
    cfg = ConfigParser(delimiters=["="])
    cfg.read(ROOT / "settings.ini", encoding="utf-8")
    home = f"{cfg['DEFAULT']['git_url']}/blob/{cfg['DEFAULT']['branch']}/"

    def turn(m):
        target = m[2]
        if target.startswith(home):
            target = target[len(home) :]
        elif not re.match(r"[a-z]+:|#|/", target):
            target = posixpath.normpath(posixpath.join("nbs", target))
        return m[1] + target

    return re.sub(r"(\]\()([^)\s]+)", turn, md)


def fenced(body, lang=""):
    return f"```{lang}\n{body.rstrip()}\n```"


def outputs(cell, pictures):
    """The stored outputs of a code cell as Markdown; its pictures are added to `pictures`"""
    for o in cell.get("outputs", []):
        data = o.get("data", {})
        if "image/png" in data:
            name = f"{IMAGES}/readme_{len(pictures) + 1}.png"
            pictures[name] = base64.b64decode(text(data["image/png"]))
            yield f"![]({name})"
        elif "text/markdown" in data:
            yield turn_links(text(data["text/markdown"]))
        elif "text/plain" in data:
            yield fenced(text(data["text/plain"]))
        elif o["output_type"] == "stream":
            yield fenced(text(o["text"]))


def make():
    """README.md's text, and a dict from path to bytes of its pictures"""
    parts, pictures = [NOTE], {}
    for cell in json.loads(PAGE.read_text("utf-8"))["cells"]:
        src = text(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            parts.append(turn_links(src))
        elif cell["cell_type"] == "code":
            directives = re.findall(r"^#\|\s*(.+?)\s*$", src, re.M)
            code = re.sub(r"^#\|.*\n?", "", src, flags=re.M).strip()
            if not code or {"hide", "default_exp"} & {d.split()[0] for d in directives}:
                continue
            if not any(d.replace(" ", "") == "echo:false" for d in directives):
                parts.append(fenced(code, "python"))
            parts += outputs(cell, pictures)
    return "\n\n".join(parts) + "\n", pictures


def main(args):
    md, pictures = make()
    big = [n for n, b in pictures.items() if len(b) > 100_000]
    assert not big, f"pictures over 100 kB: {big}"

    def same(path, new):
        return path.exists() and path.read_bytes() == new

    files = {README: md.encode("utf-8")} | {ROOT / n: b for n, b in pictures.items()}
    old = {p for p in (ROOT / IMAGES).glob("readme_*.png") if p not in files}
    stale = [p.relative_to(ROOT).as_posix() for p, b in files.items() if not same(p, b)] + [
        p.relative_to(ROOT).as_posix() for p in old
    ]
    if "--check" in args:
        if stale:
            print(
                f"{', '.join(stale)}: not what nbs/index.ipynb says; run python"
                " scripts/make_readme.py",
                file=sys.stderr,
            )
        return bool(stale)
    for p, b in files.items():
        p.parent.mkdir(parents=True, exist_ok=True)
        p.write_bytes(b)
    for p in old:
        p.unlink()
    print(", ".join(stale) or "README.md unchanged")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
