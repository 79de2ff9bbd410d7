"""Sentences of chapters are short enough to be read once; words come after what explains them."""

import json
import sys

import places
import pytest

sys.path.insert(0, str(places.ROOT / "scripts"))
import plain_words  # noqa: E402


def test_no_sentence_of_a_chapter_has_more_than_40_words():
    found = list(plain_words.long_sentences())
    assert not found, "\n".join(f"{name}, {n} words: {o}" for name, n, o in found)


@pytest.mark.parametrize(
    "text, words",
    [
        ("One two three. Four five!", [3, 2]),
        ("With $k = 5$ and `a, b, c` there are six.", [7]),
        ("A [link of four](../a.ipynb#b) is its text.", [7]),
        ("See Eq. 3 and e.g. Fig. 2 of it. Then go.", [9, 2]),
        ("| a | b |\n|---|---|\n| c d e | f |\n\nAfter it.", [2]),
        ("Before\n\n$$x = y$$\n\nafter it.", [1, 2]),
        ("* one item\n* and another item\n\n1. a third", [2, 3, 2]),
        ("Steps:\n\n    a block of code\n    with many words\n\nAnd more.", [1, 2]),
        ("It says: One day. *Then* it ends.", [2, 2, 3]),
    ],
)
def test_sentences_are_found(text, words):
    assert [plain_words.n_words(o) for o in plain_words.sentences(text)] == words


def test_a_long_sentence_is_told(tmp_path):
    path = tmp_path / "99_long.ipynb"
    words = " ".join(["word"] * 41)
    path.write_text(
        '{"cells": [{"cell_type": "markdown", "source": ["%s.\\n", "\\n", "%s."]}]}'
        % (words, words[5:]),
        "utf-8",
    )
    assert list(plain_words.long_sentences([path])) == [("99_long", 41, words + ".")]


def test_words_of_the_glossary_are_explained_where_they_are_first_used():
    found = list(plain_words.unexplained())
    assert not found, "\n".join(f"{word!r} is not explained in {o}" for word, o in found)


def test_words_of_the_glossary_are_looked_for():
    found = {word: page for word, page, _, _ in plain_words.first_uses()}
    assert len(found) > 80 and found["quasi-identifier"] == "01_leaks"
    assert found["span"] and found["k-anonymity"] and "$k$" not in found
    assert plain_words.EVERYDAY | plain_words.FORMS.keys() <= found.keys()


def page(folder, name, *cells):
    path = folder / f"{name}.ipynb"
    cells = [{"cell_type": "markdown", "source": [o]} for o in cells]
    path.write_text(json.dumps({"cells": cells}), "utf-8")
    return path


@pytest.mark.parametrize(
    "cell, explained",
    [
        ("The *audit* measures.", True),
        ("The **audit** measures.", True),
        ("See [the audit](../glossary.ipynb#a). Audits measure.", True),
        ("## Audits\n\nAn audit measures.", True),
        ("*Left the [audit](a.ipynb) of a table that was published by a shop.*", True),
        ("The audit measures.", False),
        ("Audits *measure*.", False),
        ("*Left the audit of a table that was published by a shop.*", False),
        ("The [measure](audit.ipynb) of an audit.", False),
        ("![audit](a.png) An audit.", False),
        ("An audit measures.\n\n## Audits", False),
        ("| audit |\n|---|\n| *audit* |\n\nThe audit.", False),
        ("Of $a$ and `audit` nothing.", None),
        ("    audit in code", None),
        ("# Audit\n\n> An audit by hand.", None),
    ],
)
def test_a_word_is_explained_by_a_mark_a_link_or_a_heading(tmp_path, cell, explained):
    pages = [page(tmp_path, "01_a", "Nothing.", cell), page(tmp_path, "02_b", "An *audit*.")]
    (found,) = plain_words.first_uses(pages, ["audit"])
    assert found[1] == ("02_b" if explained is None else "01_a")
    assert found[3] == (explained is not False)
    told = list(plain_words.unexplained(pages, ["audit"]))
    assert [o[1][:5] for o in told] == (["01_a:"] if explained is False else [])
    assert not list(plain_words.unexplained(pages, ["rule"]))
