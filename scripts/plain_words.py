"""Sentences that are too long, and where words of the glossary are first used.

    python scripts/plain_words.py            sentences of chapters with more than 40 words
    python scripts/plain_words.py --first    the first chapter that uses each word of the glossary

A formula and a piece of code count as one word, a link as its text; tables and displayed formulas
do not count. *marked* says that the word is bold, slanted or a link somewhere in its first chapter.
"""

import json
import re
import sys
from pathlib import Path

NBS = Path(__file__).resolve().parent.parent / "nbs"
MOST_WORDS = 40
# ends of sentences; what looks like one and is none is taken out before
END = re.compile(r"(?<=[.!?:;])[\"”')*_]*\s+(?=[\"“(*_\[A-Z0-9$`¶])")
SHORT = re.compile(r"\b(?:e\.g|i\.e|vs|cf|Eq|Eqs|Alg|Fig|Figs|Sec|Def|No|al|resp|p|pp|ca|Dr|St)\.")


def texts(path):
    """Markdown cells of a page"""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]


def plain(text):
    """Prose of a cell, a formula or piece of code as one word; tables and displays are left out"""
    text = re.sub(r"(?:\A|\n[ \t]*\n)(?: {4,}.*(?:\n|\Z))+", " ¶ ", text)  # code, by its indent
    text = re.sub(r"```.*?```|\$\$.*?\$\$|<!--.*?-->", " ¶ ", text, flags=re.S)
    text = re.sub(r"`[^`]+`|\$[^$]+\$", "X", text)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<[^>]+>", " ", text)
    return re.sub(r"^\s*\|.*$|^:::.*$|^#+ .*$", " ¶ ", text, flags=re.M)


def paragraphs(text):
    """Paragraphs and items of lists"""
    for block in re.split(r"\n\s*\n|¶|\n(?=\s*(?:[-*]|\d+\.) )", plain(text)):
        block = re.sub(r"^\s*(?:[-*>]|\d+\.)\s+", "", block.strip())
        if block:
            yield " ".join(block.split())


def sentences(text):
    """Sentences of a cell"""
    for block in paragraphs(text):
        block = SHORT.sub(lambda m: m[0].replace(".", "․"), block)
        yield from (o.strip() for o in END.split(block) if o.strip())


def n_words(sentence):
    """Words of a sentence: what has a letter or digit"""
    return sum(bool(re.search(r"\w", o)) for o in sentence.split())


def chapters():
    return sorted(NBS.glob("[0-9]*.ipynb"))


def long_sentences(paths=None):
    """Triples (page, words, sentence) of sentences that are too long"""
    for path in paths or chapters():
        for text in texts(path):
            for o in sentences(text):
                if n_words(o) > MOST_WORDS:
                    yield path.stem, n_words(o), o


def glossary():
    """Words of the glossary, signs and letters apart"""
    words = []
    for text in texts(NBS / "glossary.ipynb"):
        for table in re.findall(r"\| word \|.*\n\|[-| ]+\|\n((?:\|.*\n?)+)", text):
            for line in table.splitlines():
                names = re.sub(r"\(.*?\)", "", line.strip("| ").partition("|")[0])
                words += [o.strip() for o in names.split(",") if "$" not in o]
    return [o for o in words if o]


def first_uses():
    """For each word of the glossary: (word, first chapter that uses it, does it mark or link it
    there?); None for a chapter where no chapter does
    """
    pages = [(p.stem, "\n\n".join(texts(p)).replace("$k$-", "k-")) for p in chapters()]
    for word in glossary():
        plural = re.compile(rf"\b{re.escape(word)}s?\b", re.I)
        where = next(((name, text) for name, text in pages if plural.search(plain(text))), None)
        marked = rf"[*_\[]{{1,2}}(?:[^*_\[\]\n]* )?{re.escape(word)}s?\b"
        yield word, where and where[0], bool(where and re.search(marked, where[1], re.I))


def main(args):
    if args not in ([], ["--first"]):
        print(__doc__)
        return 2
    if args:
        for word, chapter, marked in first_uses():
            print(
                f"{word:34} {chapter or 'in no chapter':22} {'marked' if marked else ''}".rstrip()
            )
        return 0
    found = list(long_sentences())
    for name, n, sentence in found:
        print(f"{name}: {n} words: {sentence}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
