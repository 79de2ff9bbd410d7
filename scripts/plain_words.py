"""Sentences that are too long, and words that are used before they are explained.

    python scripts/plain_words.py            sentences of chapters with more than 40 words, and
                                             words whose first use explains nothing
    python scripts/plain_words.py --first    where each word of the glossary is first used

A formula and a piece of code count as one word, a link as its text; tables and displayed formulas
do not count. Chapters are read in their order. The paragraph that uses a word of the glossary first
has to explain it: the word is slanted or bold there (so the book writes what it introduces), or
stands in a link, to the glossary or to the page that explains it; or a heading names it before.
Words of `EVERYDAY` are understood as they are.
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
# marks of Markdown around a word that is introduced, and links
MARKED = re.compile(r"\*\*[^*]+\*\*|(?<![*\w])\*[^*\s][^*]*\*")
LINKED = re.compile(r"(?<!!)\[[^]]*\]\(\)")
# how words are written in sentences, where that is not the word of the glossary
FORMS = {
    "k-anonymity": r"\bk-anonym(?:ity|ous)\b",
    "generalization": r"\bgeneraliz\w+",
    "suppression of a cell": r"\bsuppress\w*",
    "of a record": r"\bsuppress\w* records?\b|\brecords? suppress\w+",
    "QI": r"(?-i:\bQIs?\b)",
    "BIG": r"(?-i:\bBIG\b)",
    "PP": r"(?-i:\bPP\b)",
    "PO": r"(?-i:\bPO\b)",
    "OP": r"(?-i:\bOP\b)",
    "OO": r"(?-i:\bOO\b)",
    "complying node": r"\bcomplying\b",
    "shared row": r"\bshared\b(?=\*|\s+rows?\b)",
}
# words of the glossary that say in a sentence what they say in any sentence
EVERYDAY = set(
    """row record set missing published cut gain world crowd background neighbours end bin rule
    climb chapter room task chance weights span strict relaxed fingerprint disclosure collapse
    assignment""".split()
)
EVERYDAY.add("class known")


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
    """Words of the glossary, letters apart; of "a thing (ABC)" both"""
    words = []
    for text in texts(NBS / "glossary.ipynb"):
        for table in re.findall(r"\| word \|.*\n\|[-| ]+\|\n((?:\|.*\n?)+)", text):
            for line in table.splitlines():
                names = _signs(line.strip("| ").partition("|")[0])
                words += [o.strip() for o in re.split(r"[,()]", names) if "$" not in o]
    return [o for o in words if o]


def _signs(text):
    """$k$-anonymity, $l$-diversity and $t$-closeness with plain letters"""
    return re.sub(r"\$([klt])\$-", r"\1-", text)


def _marked_prose(text):
    """Paragraphs of a cell with their marks and links; tables are left out"""
    text = re.sub(r"(?:\A|\n[ \t]*\n)(?: {4,}.*(?:\n|\Z))+", "\n\n", _signs(text))
    text = re.sub(r"```.*?```|\$\$.*?\$\$|<!--.*?-->", "\n\n", text, flags=re.S)
    text = re.sub(r"`[^`]+`|\$[^$]+\$", "X", text)
    text = re.sub(r"\]\([^)]*\)", "]()", re.sub(r"<[^>]+>", " ", text))
    # the title and the promise below it are no sentences yet
    text = re.sub(r"^\s*\|.*$|^:::.*$|^# .*\n+> .*$|^# .*$", "", text, flags=re.M)
    # a section introduces what its heading names
    text = re.sub(r"^##+ (.*)$", r"\n\n[\1]()\n\n", text, flags=re.M)
    return [" ".join(o.split()) for o in re.split(r"\n\s*\n", text) if o.strip()]


def first_uses(pages=None, words=None):
    """For each word of the glossary: (word, first page that uses it, the paragraph, is the word
    marked or linked there?); None, "" and False where no page does
    """
    pages = [(p.stem, [o for t in texts(p) for o in _marked_prose(t)]) for p in pages or chapters()]
    for word in words or glossary():
        form = re.compile(FORMS.get(word, rf"\b{re.escape(word)}(?:s|es)?\b"), re.I)
        found = ((name, o) for name, text in pages for o in text if form.search(o))
        name, paragraph = next(found, (None, ""))
        # what is slanted from end to end is a caption
        marks = [o for o in MARKED.findall(paragraph) if n_words(o) <= 6]
        marks += LINKED.findall(paragraph)
        yield word, name, paragraph, any(map(form.search, marks))


def unexplained(pages=None, words=None):
    """Pairs (word, where it is used before it is explained)"""
    for word, name, paragraph, marked in first_uses(pages, words):
        if name and not marked and word not in EVERYDAY:
            yield word, f"{name}: {paragraph}"


def main(args):
    if args not in ([], ["--first"]):
        print(__doc__)
        return 2
    if args:
        for word, page, _, marked in first_uses():
            how = "explained" if marked else "everyday" if word in EVERYDAY else "NOT EXPLAINED"
            print(f"{word:34} {page or 'in no chapter':22} {how if page else ''}".rstrip())
        return 0
    found = [f"{name}: {n} words: {o}" for name, n, o in long_sentences()]
    found += [f"{word!r} is not explained at its first use, in {o}" for word, o in unexplained()]
    print("\n".join(found), end="\n" * bool(found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
