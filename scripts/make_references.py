"""Write nbs/references.ipynb from nbs/references.bib. With --check, only say whether they agree.

python scripts/make_references.py [--check]
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIB, PAGE = ROOT / "nbs/references.bib", ROOT / "nbs/references.ipynb"
GROUPS = {
    "papers": "The five papers",
    "models": "What is promised, and attacks",
    "methods": "Methods and measures",
    "data": "Data",
}


def read_bib(text):
    """The entries of a .bib file, each a dict of its fields with `key` and `kind`"""
    res = []
    for kind, key, body in re.findall(r"^@(\w+)\{([^,\s]+),\n(.*?)^\}", text, re.M | re.S):
        fields = {
            n.lower(): " ".join(v.split())
            for n, v in re.findall(r"(\w+)\s*=\s*\{((?:[^{}]|\{[^{}]*\})*)\}", body)
        }
        res.append(fields | {"key": key, "kind": kind.lower()})
    return res


def people(authors):
    """`Last, First and Last, First` as `First Last, First Last and First Last`"""
    names = [" ".join(reversed(a.split(", ", 1))) for a in authors.split(" and ")]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def where(e):
    """Journal or proceedings, volume, pages, year"""
    vol = e.get("volume", "") + (f"({e['number']})" if "volume" in e and "number" in e else "")
    place = e.get("journal") or e.get("booktitle") or e.get("publisher")
    number = e.get("number") if "volume" not in e else None
    parts = [
        f"*{place}*" if place else "",
        vol,
        f"paper {number}" if number else "",
        f"pages {e['pages'].replace('--', '–')}" if "pages" in e else "",
        e.get("year", ""),
    ]
    return ", ".join(filter(None, parts))


def line(e):
    """One entry of the page"""
    url = e.get("url") or (f"https://doi.org/{e['doi']}" if "doi" in e else "")
    title = f"[{e['title']}]({url})" if url else e["title"]
    parts = [f"{people(e['author'])}. {title}.", where(e) and f"{where(e)}.", f"We use: {e['use']}"]
    use = re.sub(r"\b(papers/\w+\.ipynb)", r"[\1](\1)", " ".join(filter(None, parts)))
    return f'* <a id="{e["key"]}"></a>**{e["key"]}**: {use}'


def make():
    """The text of the page"""
    entries = read_bib(BIB.read_text("utf-8"))
    assert len({e["key"] for e in entries}) == len(entries), "a key occurs twice in references.bib"
    for e in entries:
        missing = {"author", "title", "use", "group"} - e.keys()
        assert not missing and e["group"] in GROUPS, (
            f"{e['key']} lacks {missing or 'a known group'}"
        )
    cells = [
        ("md", "title", "# References\n\n> What ppdt takes from whom."),
        (
            "md",
            "intro",
            (
                "Chapters cite by the bold names below. An entry gives only what we could check"
                " against a text at hand; where a paper came to us without its venue, none is"
                " given.\n\nThis page is made from `references.bib` by"
                " `scripts/make_references.py`."
            ),
        ),
    ]
    for group, heading in GROUPS.items():
        cells.append(
            (
                "md",
                group,
                f"## {heading}\n\n" + "\n".join(line(e) for e in entries if e["group"] == group),
            )
        )

    def cell(kind, id, src):
        res = {"cell_type": "markdown", "id": id, "metadata": {}, "source": src.splitlines(True)}
        return (
            res
            if kind == "md"
            else res | {"cell_type": "code", "execution_count": None, "outputs": []}
        )

    nb = {
        "cells": [cell(*o) for o in cells],
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"display_name": "python3", "language": "python", "name": "python3"}
        },
    }
    return json.dumps(nb, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main(args):
    text = make()
    same = PAGE.exists() and PAGE.read_text("utf-8") == text
    if "--check" in args:
        if not same:
            print(
                "nbs/references.ipynb is not what references.bib says: run python"
                " scripts/make_references.py",
                file=sys.stderr,
            )
        return not same
    if not same:
        PAGE.write_text(text, "utf-8")
    print(PAGE.relative_to(ROOT), "unchanged" if same else "written")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
