"""Slides of chapters: what is on them, what stays in the chapter, and that they need no network."""

import json
import re
import sys

import places
import pytest

sys.path.insert(0, str(places.ROOT / "scripts"))
import slides  # noqa: E402

CHAPTERS = ("01_leaks", "12_splits", "22_contest")


def cell(kind, text, *outputs):
    return {"cell_type": kind, "source": [text], "outputs": list(outputs)}


def printed(text):
    return {"output_type": "stream", "name": "stdout", "text": [text]}


def slides_of(*cells):
    return list(slides.slides_of({"cells": [cell("markdown", "# Title\n\n> Said."), *cells]}))


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_in_one_file(name):
    """Title, promise, headings in order, all pictures above the exercises; no check, no address"""
    nb = json.loads((slides.NBS / f"{name}.ipynb").read_text("utf-8"))
    page = slides.page_of(slides.NBS / f"{name}.ipynb")
    title, _, promise = slides.source(nb["cells"][0]).partition("\n")
    assert f"<h1>{title[2:]}</h1>" in page and promise.strip()[2:20] in page
    assert not re.findall(r"""(?:src|href)=["'](?!data:)|https?://(?!www\.w3\.org)""", page)
    assert "test_eq(" not in page and "#| " not in page and "$$" not in page
    pictures = [
        "".join(o["data"]["image/png"]).strip()
        for c in nb["cells"]
        for o in c.get("outputs", [])
        if "image/png" in o.get("data", {})
    ]
    assert pictures and [o for o in pictures if o not in page] == []
    assert 10 < page.count("<section>") < 60
    heads = [re.sub(r"<[^>]+>", "", o) for o in re.findall(r"<h2>(.*?)</h2>", page, re.S)]
    assert heads[0] == "In short" and heads[-1] == "Exercises" and "Deviations" not in heads


def test_what_a_slide_shows():
    made = slides_of(
        cell("markdown", "## One\n\nFirst $x^2$ said. Second said.\n\nThird.\n\n$$y \\tag{1}$$"),
        cell("code", "1 + 1", printed("2\n")),
        cell("code", "test_eq(1, 1)"),
        cell("code", "#| export\nexported()", printed("exported")),
        cell("markdown", "## Deviations\n\nNot shown."),
        cell("code", "4", printed("4")),
        cell("markdown", "## Exercises\n\n1. A question?"),
        cell("code", "#| solution\nsolved()", printed("solved")),
    )
    assert [o for o, _ in made] == ["One", "Exercises"]
    first = made[0][1]
    assert "said." in first and "Second" not in first and "Third" not in first
    assert first.count("<math") == 2 and "(1)" not in first
    assert "<pre>1 + 1</pre>" in first and "test_eq" not in first
    assert "exported" not in first
    assert "A question?" in made[1][1] and "solved" not in made[1][1]


def test_a_full_slide_goes_on_and_keeps_code_with_its_output():
    long = "\n".join(f"line {i}" for i in range(slides.MOST_LINES))
    code = [cell("code", f"show({i})", printed(long)) for i in range(2)]
    made = slides_of(cell("markdown", "## Two"), *code)
    assert [o for o, _ in made] == ["Two", "Two"]
    assert all(f"show({i})" in text and "line 11" in text for i, (_, text) in enumerate(made))
    too_long = slides_of(cell("markdown", "## No"), cell("code", "x", printed(long + "\nmore")))
    assert too_long == []


def test_an_unknown_chapter_is_told(tmp_path):
    with pytest.raises(SystemExit, match="no such chapter: 99_none. There are 01_leaks,"):
        slides.main(tmp_path, "99_none")
    slides.main(tmp_path / "new", "01_leaks")
    assert (tmp_path / "new" / "01_leaks.html").stat().st_size > 50_000
