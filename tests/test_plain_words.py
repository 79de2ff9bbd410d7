"""Sentences of chapters are short enough to be read once."""

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


def test_words_of_the_glossary_are_looked_for():
    found = {word: chapter for word, chapter, _ in plain_words.first_uses()}
    assert len(found) > 80 and found["quasi-identifier"] == "01_leaks"
    assert found["span"] and "$k$" not in found
