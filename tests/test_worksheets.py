"""Worksheets: solutions hold the papers' numbers, and sheets hold none of the answers."""

import re
import sys

import places
import pytest

sys.path.insert(0, str(places.ROOT / "scripts"))
import worksheets  # noqa: E402

# checked by hand, or printed in the papers
WANTED = {
    "1_gain_of_sets": "0.954 3 1 0.811 0 0.918 0.204 4 1.5 5.5 0.845 0.971 2.5 0.885 0.07 8",
    "2_a_cut": "0 1 0.552 Marital no yes 42 1, 2|{57, 61}|3, 4, 5|{29, 38, 42}",
    "3_node_9": "12 88 90 102 100 46 132",
    "4_spans": "6 4 3 1 John, Lisa|John, Ben, Laura|Lisa, Robert, Anna",
    "5_ratios": "3.807 3.322 0.135 0.161 0.246 0.445 3.432 5.536 0.741 0.259 0.89 2 5, then 1",
    "6_worlds": "5 4 20 3432 0.2 0.25 10 1, 2, 8, 10, 11",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sheets")
    assert worksheets.main([str(folder)]) == 0
    return folder


def answers(text):
    return re.findall(r'<span class="answer">(.*?)</span>', text)


def wanted(words):
    """Answers as a list: by bars where they have commas, else by spaces"""
    first, *more = words.split("|")
    m = re.search(r"(\S+, .+)$", first)
    return first[: m.start()].split() + [m[1], *more] if m else first.split()


@pytest.mark.parametrize("name", worksheets.SHEETS)
def test_solutions_have_the_numbers_of_the_papers(name, made):
    found = answers((made / f"{name}_solution.html").read_text("utf-8"))
    assert set(wanted(WANTED[name])) <= set(found)


@pytest.mark.parametrize("name", worksheets.SHEETS)
def test_sheets_differ_from_solutions_in_the_answers_only(name, made):
    sheet, solution = ((made / f"{name}{o}.html").read_text("utf-8") for o in ("", "_solution"))
    assert not answers(sheet) and 'class="way"' not in sheet and "Name" in sheet
    assert sheet.count('class="blank"') == len(answers(solution)) >= 7
    way = re.compile(r'<div class="way">.*?</div>|(?:<div class="room"></div>)+', re.S)
    gap = re.compile(r'<span class="(?:answer|blank)".*?</span>', re.S)
    header = re.compile(r"<header>.*?</header>", re.S)
    alike = [header.sub("", gap.sub("_", way.sub("=", o))) for o in (sheet, solution)]
    assert alike[0] == alike[1]


def test_sheets_need_no_other_file_and_are_listed(made):
    index = (made / "index.html").read_text("utf-8")
    for path in made.glob("*.html"):
        text = path.read_text("utf-8")
        assert not re.search(r"(?:src|href)=\"(?:https?:)?//", text) and "@page" in text
        assert path.name == "index.html" or f'href="{path.name}"' in index
        assert "nan" not in text.lower().replace("anna", "")
    assert len(list(made.glob("*.html"))) == 18


def test_gains_of_sheet_1_by_hand():
    """From the counts, with nothing of the package"""
    import math

    def h(*n):
        return -sum(o / sum(n) * math.log2(o / sum(n)) for o in n if o)

    text = worksheets.sheet("1_gain_of_sets", solved=True)
    own = h(5, 3) - 4 / 8 * h(3, 1) - 3 / 8 * h(2, 1)
    halves = h(5, 3) - 5.5 / 8 * h(4, 1.5) - 2.5 / 8 * h(1, 1.5)
    assert {worksheets.esc(own), worksheets.esc(halves)} <= set(answers(text))


def test_each_paper_has_a_guide_of_one_sheet():
    made = list(worksheets.guides())
    papers = ["Shao and Beckford", "kACTUS", "MiCT", "kADET", "ERP"]
    assert [title.partition(":")[0] for _, title, _ in made] == papers
    for _, _, text in made:
        read = re.sub(r"<style>.*?</style>|<[^>]+>", " ", text, flags=re.S)
        assert all(o in read for o in ("Order.", "Wrong in print.", "Noticed besides."))
        assert not re.search(r"\]\(|\$|\*\*|ipynb|\\", read) and "<a " not in text
        assert 120 < len(read.split()) < 260


def test_the_script_explains_itself(capsys):
    assert worksheets.main([]) == 2 and "index.html" in capsys.readouterr().out
