"""The quiz bank is up to date, and a parser of GIFT reads it."""

import re
import sys

import places
import pytest

ROOT = places.ROOT
sys.path.insert(0, str(ROOT / "scripts"))
import quiz_bank  # noqa: E402
import student_copies  # noqa: E402

# a sign that stands for itself, or any other
SIGN = r"(?:\\[\\~=#{}:n]|[^\\~=#{}:])"
ESSAY = re.compile(rf"::({SIGN}+)::\[html\]({SIGN}+?) ?\{{####\[html\]({SIGN}+)\}}")


def plain(text):
    """GIFT's escapes undone"""
    return re.sub(r"\\([\\~=#{}:])", r"\1", text)


def parsed(text):
    """Tuples (category, title, question, answer). Blank lines divide; anything odd is an error"""
    found, category = [], None
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = [o for o in block.splitlines() if not o.startswith("//")]
        if not lines:
            continue
        assert len(lines) == 1, block
        if lines[0].startswith("$CATEGORY: "):
            category = lines[0].removeprefix("$CATEGORY: ")
            continue
        m = ESSAY.fullmatch(lines[0])
        assert m and category, lines[0]
        found.append((category, *map(plain, m.groups())))
    return found


def test_bank_is_up_to_date():
    assert quiz_bank.BANK.read_text("utf-8") == quiz_bank.bank(), "run scripts/quiz_bank.py"


def test_bank_is_read_by_a_parser():
    found = parsed(quiz_bank.bank())
    of_page = {}
    for category, title, question, answer in found:
        assert question and answer and not re.search(r"[`$]", question + answer), title
        for mark in ("b", "em", "code"):
            both = question + answer
            assert both.count(f"<{mark}>") == both.count(f"</{mark}>")
        of_page.setdefault(category, []).append(title)
    assert len({title for _, title, *_ in found}) == len(found)
    chapters = [v for k, v in of_page.items() if re.match(r"ppdt/\d\d_", k)]
    assert len(chapters) == 28 and {len(o) for o in chapters} == {5}


def test_every_page_with_exercises_is_in():
    pages = student_copies.book(ROOT / "nbs")
    asked = {p.stem for p in pages if "## Exercises" in p.read_text("utf-8")}
    assert {o[1].rpartition(" ")[0] for o in parsed(quiz_bank.bank())} == asked


def test_signs_survive():
    text = r"`{a, b}` = **x** ~ #1: $\frac{1}{2} < k$ and [a link](there.ipynb#x) \ <*>"
    shown = quiz_bank.as_html(text)
    assert shown.startswith(
        "<code>{a, b}</code> = <b>x</b> ~ #1: \\(\\frac{1}{2} &lt; k\\) and a link"
    )
    line = f"$CATEGORY: c\n\n::t::[html]q {{####[html]{quiz_bank.escaped(shown)}}}"
    assert parsed(line) == [("c", "t", "q", shown)]


def test_an_answer_that_is_missing_is_an_error():
    text = "## Exercises\n\n1. One?\n2. Two?\n\n<details><summary>A</summary>\n\n1. A.\n</details>"
    with pytest.raises(ValueError):
        quiz_bank.questions({"cells": [{"cell_type": "markdown", "source": [text]}]})
