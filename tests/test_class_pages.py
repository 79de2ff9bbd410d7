"""Pages for a class: guides of one sheet, sessions of 90 minutes, sections and tasks that exist."""

import json
import re
import sys

import places
import pytest
import yaml

from ppdt.engine.claims import anchor

sys.path.insert(0, str(places.ROOT / "scripts"))
import chapter_sizes  # noqa: E402
import worksheets  # noqa: E402

NBS = places.ROOT / "nbs"
PAGES = sorted((NBS / "class").glob("*.ipynb"))


def texts(path):
    """Markdown cells of a page"""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]


def headings(path):
    """Anchors of a page: its headings, and the ids it sets"""
    whole = "\n".join(texts(path))
    set_by_hand = re.findall(r'<a id="([^"]+)"', whole)
    return {anchor(o) for o in re.findall(r"^#+ (.+)$", whole, re.M)} | set(set_by_hand)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_links_lead_to_sections_that_exist(path):
    links = re.findall(r"\]\(([^)#]*)(?:#([^)]+))?\)", "\n".join(texts(path)))
    assert links
    for file, section in links:
        target = (path.parent / file).resolve() if file else path
        assert target.is_file(), file
        if section and target.suffix == ".ipynb" and target.stem != "references":
            assert section in headings(target), (file, section)


def test_a_reading_guide_fits_on_a_sheet():
    guides = [o for o in texts(NBS / "class" / "reading_guides.ipynb") if "**Order.**" in o]
    assert len(guides) == 5
    for text in guides:
        words = re.sub(r"\]\([^)]*\)", "]", text.partition("\n")[2]).split()
        assert 120 <= len(words) <= 170, (text[:30], len(words))
        assert "**Wrong in print.**" in text and "**Ask of" in text


def plans(path):
    """Minutes of each plan, a table whose first column is `minutes`"""
    for text in texts(path):
        for table in re.findall(r"\| minutes \|.*\n\|[-| ]+\|\n((?:\|.*\n?)+)", text):
            yield [int(o) for o in re.findall(r"^\| (\d+) \|", table, re.M)]


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_sessions_have_90_minutes(path):
    assert [sum(o) for o in plans(path)] == [90] * len(list(plans(path)))


def test_twelve_sessions_say_what_a_lecturer_asks():
    path = NBS / "class" / "syllabus.ipynb"
    sessions = [o for o in texts(path) if o.startswith("## Session ")]
    assert len(sessions) == 12 == len(list(plans(path)))
    for text in sessions:
        assert all(f"**{o}" in text for o in ("Chapters:", "Aims:", "Board.", "Typical errors."))
        minutes = text.partition("**Exercises, in minutes.**")[2]
        n = len(re.findall(r"\]\(", text.partition("**Aims")[0]))
        for o in ("★", "★★", "★★★"):  # a time for each kind of task of each chapter
            assert len(re.findall(rf"(?<!★){o} (?=\d)", minutes)) == n, (text[:20], o)


def test_each_worksheet_is_named_in_the_plan_of_its_session():
    sessions = [o for o in texts(NBS / "class" / "syllabus.ipynb") if o.startswith("## Session ")]
    for name, (_, _, session, chapter, _) in worksheets.SHEETS.items():
        told = [i for i, o in enumerate(sessions, 1) if f"worksheet {name[0]}" in o]
        assert told == [session] and f"[{chapter}" in sessions[session - 1], name


def test_every_chapter_has_minutes_for_its_tasks():
    timed = set()
    for text in texts(NBS / "class" / "syllabus.ipynb"):
        if text.startswith("## Session "):
            timed |= set(re.findall(r"\.\./(\d\d_\w+)\.ipynb", text.partition("**Aims")[0]))
        if "Minutes for the exercises" in text:
            timed |= set(re.findall(r"\.\./(\d\d_\w+)\.ipynb", text))
    assert timed == {o.stem for o in NBS.glob("[0-9]*.ipynb")}


HOURS = {
    "an hour": 1,
    "an hour and a half": 1.5,
    "two hours": 2,
    "two and a half hours": 2.5,
    "three hours": 3,
    "three and a half hours": 3.5,
    "five and a half hours": 5.5,
}
PARTS = {
    part["section"]: part["contents"]
    for part in yaml.safe_load((places.ROOT / "_quarto.yml").read_text("utf-8"))["website"][
        "sidebar"
    ]["contents"]
    if any(o.startswith("class/part_") for o in part["contents"])
}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_has_a_page_that_says_what_comes_and_why(part):
    """Its pages in their order, 100 to 200 words, and the time they take at 150 words or 20 lines
    of code a minute
    """
    (page,) = [o for o in PARTS[part] if o.startswith("class/part_")]
    rest = [o for o in PARTS[part] if o != page]
    number = list(PARTS).index(part) + 1
    title, text = texts(NBS / page)
    assert title.startswith(f"# Part {number}: {part}\n") and f"_{number:02}_" in page
    comes = text.partition("**Why.**")[0]
    assert list(dict.fromkeys(re.findall(r"\]\(\.\./([^)]+)\)", comes))) == rest
    assert "**Afterwards**" in text
    assert 100 <= len(re.sub(r"\]\([^)]*\)", "]", text).split()) <= 200
    sizes = [chapter_sizes.sizes(NBS / o) for o in rest]
    minutes = sum(words / 150 + lines / 20 for words, _, lines, _ in sizes)
    told = HOURS[re.search(r"\*\*Time to read:\*\* about ([^.]+)\.", text)[1]]
    assert abs(60 * told - minutes) <= 30, f"about {minutes:.0f} minutes"


def test_every_chapter_belongs_to_a_part():
    chapters = sorted(o.name for o in NBS.glob("[0-9]*.ipynb"))
    assert [o for pages in PARTS.values() for o in pages if o[0].isdigit()] == chapters
