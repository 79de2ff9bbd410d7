"""Gather the recall questions of all pages for Moodle, as GIFT.

    python scripts/quiz_bank.py            write nbs/class/quiz.gift
    python scripts/quiz_bank.py FILE       write it somewhere else

Each page is a category, and each question an essay whose general feedback is the page's answer. In
Moodle: question bank, import, GIFT.
"""

import html
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from student_copies import ROOT, book, source

BANK = ROOT / "nbs" / "class" / "quiz.gift"
HEAD = """\
// Recall questions of the book, a category for each page. Made by scripts/quiz_bank.py.
// In Moodle: question bank, import, GIFT. The answer is the general feedback.
"""


def numbered(text):
    """The items of the first numbered list of `text`"""
    items = []
    for line in text.strip().splitlines():
        start = re.match(r"(\d+)\. (.+)", line)
        if start and int(start[1]) == len(items) + 1:
            items.append(start[2])
        elif items and re.match(r"\s+\S", line):
            items[-1] += " " + line.strip()
        elif items:
            break
    return items


def questions(nb):
    """Pairs (question, answer) of a page, as Markdown"""
    texts = [source(c) for c in nb["cells"] if c["cell_type"] == "markdown"]
    tail = "\n\n".join(texts).partition("## Exercises")[2]
    asked, _, rest = tail.partition("<details>")
    answers = rest.partition("</summary>")[2].partition("</details>")[0]
    return list(zip(numbered(asked), numbered(answers), strict=True))


def title(nb):
    """Title of a page"""
    return source(nb["cells"][0]).splitlines()[0].lstrip("# ")


def inline(text):
    """Words and marks outside of code and formulas, as HTML"""
    text = html.escape(re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text), quote=False)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    return re.sub(r"(?<![\w*])\*([^*]+)\*(?!\w)", r"<em>\1</em>", text)


def as_html(text):
    """Markdown of one line as HTML; formulas between the marks that Moodle knows"""
    res = ""
    for part in re.split(r"(`[^`]+`|\$[^$]+\$)", text):
        if part.startswith("`") and len(part) > 1:
            res += f"<code>{html.escape(part[1:-1], quote=False)}</code>"
        elif part.startswith("$") and len(part) > 1:
            res += f"\\({html.escape(part[1:-1], quote=False)}\\)"
        else:
            res += inline(part)
    return res


def escaped(text):
    """`text` with GIFT's own signs as mere signs"""
    return re.sub(r"([\\~=#{}:])", r"\\\1", text)


def bank():
    """All questions as GIFT"""
    parts = [HEAD]
    for path in book(ROOT / "nbs"):
        nb = json.loads(path.read_text("utf-8"))
        pairs = questions(nb)
        if pairs:
            parts.append(f"$CATEGORY: ppdt/{path.stem} {title(nb)}\n")
        for i, (question, answer) in enumerate(pairs, 1):
            asked, told = (escaped(as_html(o)) for o in (question, answer))
            parts.append(f"::{path.stem} {i}::[html]{asked} {{####[html]{told}}}\n")
    return "\n".join(parts)


def main(args):
    if any(o.startswith("-") for o in args):
        print(__doc__)
        return 2
    target = Path(args[0]) if args else BANK
    target.write_text(bank(), "utf-8")
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
