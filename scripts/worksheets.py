"""Six worksheets to print, each with its solution, and a reading guide for each of the five papers:
`python scripts/worksheets.py FOLDER`.

Open FOLDER/index.html in a browser and print from there; each sheet is a page of A4. All numbers of
worksheets are computed by ppdt while the sheets are made; the guides are those of
nbs/class/reading_guides.ipynb. Existing files are overwritten.
"""

import html
import itertools
import json
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

sys.path.insert(0, str(Path(__file__).parent))
from slides import rendered

from ppdt.c45 import C45Classifier
from ppdt.datasets import load_clients, load_customers, load_salaries
from ppdt.growing import entropy, information_gain
from ppdt.id3_sets import GeneralizedID3Classifier, cell_members
from ppdt.kactus import climb, load_adult_excerpt_tree
from ppdt.medians import strict_partition
from ppdt.models import spans
from ppdt.risk import error_risk, error_risk_prune
from ppdt.tables import cells, encode
from ppdt.trees import tree_text

STYLE = """
@page { size: A4; margin: 14mm 16mm; }
body { font: 11pt/1.4 Georgia, 'Liberation Serif', 'DejaVu Serif', serif; color: #000;
  background: #fff; max-width: 178mm; margin: 0 auto; }
header { display: flex; justify-content: space-between; gap: 2em; border-bottom: 1px solid #000;
  padding-bottom: .3em; font-size: 10pt; }
h1 { font-size: 16pt; margin: .5em 0 .3em; }
ol.tasks > li { margin: .55em 0; break-inside: avoid; }
p { margin: .4em 0; }
table { border-collapse: collapse; margin: .4em 0; font-size: 10pt; }
th, td { border: 1px solid #555; padding: .12em .6em; text-align: center; }
th { font-weight: bold; background: #eee; }
td.text { text-align: left; }
pre { font: 9pt/1.35 'DejaVu Sans Mono', monospace; margin: .4em 0; }
.blank { display: inline-block; border-bottom: 1px solid #000; height: 1.1em; }
td .blank { border-bottom: 0; }
.answer { font-weight: bold; }
.way { border-left: 3px solid #888; padding-left: .7em; margin: .3em 0; }
.room { border-bottom: 1px dotted #999; height: 1.7em; }
.beside { display: flex; gap: 1.5em; align-items: flex-start; }
.beside > div { flex: 1; min-width: 0; }
@media (max-width: 500px) { .beside { display: block; }
  table, pre { overflow-x: auto; display: block; } }
footer { font-size: 9pt; color: #333; border-top: 1px solid #000; margin-top: .8em;
  padding-top: .2em; }
@media screen { body { padding: 1.2em; } }
"""


@dataclass(frozen=True)
class Pen:
    """Writes what a student fills in: a gap on the sheet, the answer on its solution"""

    solved: bool

    def gap(self, value, width=4):
        """A number or word to be found; its width in letters"""
        if self.solved:
            return f'<span class="answer">{esc(value)}</span>'
        return f'<span class="blank" style="width: {width * 0.6:.1f}em"></span>'

    def way(self, text, lines=2):
        """How it is found, or lines to write on"""
        if self.solved:
            return f'<div class="way">{text}</div>'
        return '<div class="room"></div>' * lines


def esc(value):
    """A value as text of a page: numbers without needless digits"""
    if isinstance(value, (float, np.floating)):
        value = f"{value:.3f}".rstrip("0").rstrip(".")
    return html.escape(str(value), quote=False)


def grid(head, rows):
    """A table; what is HTML already (a gap) stays, words stand left"""

    def cell(o):
        text = o if isinstance(o, str) and o.startswith("<span") else esc(o)
        left = isinstance(o, str) and not o.startswith("<span")
        return f'<td class="text">{text}</td>' if left else f"<td>{text}</td>"

    top = "".join(f"<th>{esc(o)}</th>" for o in head)
    body = "".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"


def frame(t, name=None):
    """A table of data with its index"""
    return grid([name or t.index.name or "", *t], [[i, *o] for i, o in zip(t.index, t.to_numpy())])


def tasks(*texts):
    """Numbered tasks"""
    return '<ol class="tasks">' + "".join(f"<li>{o}</li>" for o in texts) + "</ol>"


def of_sets(pen):
    """Table III of Shao and Beckford: entropy and gain, sets as values and as halves"""
    t = load_salaries()
    codes, held = cells(t.Sex)
    high = (t.Salary == ">50").to_numpy().astype(int)
    names = [o.text() if hasattr(o, "text") else str(o) for o in held]
    own = np.array([[((codes == i) & (high == c)).sum() for c in (0, 1)] for i in range(len(held))])
    m = cell_members(codes, held, ["F", "M"])
    row, value, weight = m.expand(np.arange(len(t)))
    halves = np.bincount(2 * value + high[row], weight, minlength=4).reshape(2, 2)
    whole = entropy(halves.sum(axis=0))
    rest = float(halves.sum(axis=1) @ entropy(halves) / halves.sum())
    shown = pd.DataFrame({"Sex": [names[c] for c in codes], "Salary": t.Salary.to_numpy()})
    shown.index = pd.RangeIndex(1, 9, name="row")
    first = [[n, *map(pen.gap, o), pen.gap(entropy(o), 6)] for n, o in zip(names, own)]
    second = [
        [n, *map(pen.gap, o), pen.gap(o.sum()), pen.gap(entropy(o), 6)]
        for n, o in zip("FM", halves)
    ]
    gain, weighted = information_gain(own), information_gain(halves)
    steps = (
        f"({halves[0].sum():g}/8) · {entropy(halves[0]):.3f} + ({halves[1].sum():g}/8) ·"
        f" {entropy(halves[1]):.3f} = {rest:.3f}, and {whole:.3f} − {rest:.3f} = {weighted:.3f}."
    )
    maps = 2 ** int(sum(len(getattr(held[c], "values", "x")) == 2 for c in codes))
    return (
        "<p>Eight rows were published; in three of them the sex is a set. How good a question is"
        " the sex? Entropy in bits, <i>H</i> = −Σ <i>p</i> log<sub>2</sub> <i>p</i>.</p>"
        + '<div class="beside">'
        + frame(shown)
        + "<div>"
        + tasks(
            f"Entropy of the salary in all eight rows: {pen.gap(whole, 7)}",
            "Take each set for a value of its own. Count, and compute the entropies."
            + grid(["Sex", "<=50", ">50", "entropy"], first)
            + f"Gain: {pen.gap(gain, 7)}",
            "Now a set of two counts one half in each branch."
            + grid(["Sex", "<=50", ">50", "sum", "entropy"], second)
            + f"Weighted rest: {pen.gap(rest, 7)} &nbsp; Gain: {pen.gap(weighted, 7)}"
            + pen.way(steps, 1),
        )
        + "</div></div>"
        + '<ol class="tasks" start="4">'
        + "<li>Why is the first gain larger, and which of the two does a raw row care for?"
        + pen.way(
            "A set as a value makes a third branch, which no raw row ever takes. Halves say what"
            " the rows tell of F and M.",
            3,
        )
        + "</li><li>How many tables without sets could these rows come from? "
        + pen.gap(maps, 5)
        + "</li></ol>"
    )


def shown_set(values):
    """Values as a published cell"""
    values = sorted(set(values))
    return str(values[0]) if len(values) == 1 else "{" + ", ".join(map(str, values)) + "}"


def side_words(a, codes, k):
    """What a cut at the median leaves left and right, and is it allowed: for both cut rules"""
    middle = sorted(codes)[(len(codes) - 1) // 2]
    for end in (middle, middle - 1):
        left, right = int((codes <= end).sum()), int((codes > end).sum())
        yield a.items[middle], left, right, "yes" if min(left, right) >= k else "no"


def of_mondrian(pen):
    """One cut of strict Mondrian: the five women among the customers"""
    t = load_customers()
    qis = ["Gender", "Marital", "Age"]
    coded = [encode(t[o]) for o in qis]
    attributes, codes = [a for a, _ in coded], [c for _, c in coded]
    women = np.flatnonzero(t.Gender == "Female")

    def reach(a, c):
        return float(a.positions[c.max()] - a.positions[c.min()])

    widths = [reach(a, c[women]) / reach(a, c) for a, c in zip(attributes, codes)]
    groups = {}
    for k in (2, 3):
        of_row = strict_partition(attributes, codes, k)[0][women]
        groups[k] = [t.iloc[women[of_row == g]] for g in dict.fromkeys(of_row)]
    cuts = [
        [o, *(pen.gap(x, 6) for x in side)]
        for o, a, c in (("Marital", attributes[1], codes[1]), ("Age", attributes[2], codes[2]))
        for side in side_words(a, c[women], 2)
    ]
    rule = ["median goes left", "median goes right"] * 2
    cuts = [[o[0], r, *o[1:]] for o, r in zip(cuts, rule)]
    published = [
        [pen.gap(", ".join(map(str, g.index)), 10), *(pen.gap(shown_set(g[o]), 16) for o in qis)]
        for g in groups[2]
    ]
    span = f"{int(t.Age.min())} to {int(t.Age.max())}"
    return (
        "<p>Mondrian has cut the 14 customers by gender. Here is the region of the women. In the"
        f" whole table both genders and both marital states occur, and ages from {span}. The order"
        " of <i>Marital</i> is that of the alphabet.</p>"
        + frame(t.iloc[women][qis])
        + tasks(
            "How wide is the region? Range in the region, as a share of the range in the table;"
            " of words the numbers of their places."
            + grid(["column", *qis], [["width", *(pen.gap(o, 6) for o in widths)]]),
            "Lower median, and the rows on each side. Is the cut allowed at <i>k</i> = 2?"
            + grid(["column", "rule", "median", "left", "right", "allowed"], cuts),
            f"Which column is cut, and why? {pen.gap('Marital', 10)}"
            + pen.way(
                "The widest, if it can be cut: with the median on the right two rows are left and"
                " three right. Age is narrower and is not asked.",
                2,
            ),
            "The two groups as they are published, as sets." + grid(["customers", *qis], published),
            f"And at <i>k</i> = 3? Number of groups: {pen.gap(len(groups[3]), 4)}"
            + pen.way(
                "No cut next to a median leaves three rows on both sides, in either column: five"
                " rows are fewer than 2<i>k</i>, so the region stays whole.",
                2,
            ),
        )
    )


def of_kactus(pen):
    """kACTUS at node 9 of the paper's example, k = 100"""
    tree, k = load_adult_excerpt_tree(), 100
    stops = np.repeat(np.arange(len(tree)), np.where(tree.attribute < 0, tree.n, 0).astype(int))
    log = climb(tree, stops, k)[0].log.set_index("node")
    sons = tree.children(9)
    races = tree.values[tree.attribute[9]]
    rows = [
        [int(v), races[int(tree.code[v])], int(tree.n[v]), pen.gap(_complies(tree, v, k), 5)]
        for v in sons
    ]
    nine = log.loc[9]
    wanted = k - nine.nui
    more = [
        [n, *(pen.gap(log.loc[n, o]) for o in ("nui", "extra", "moved", "published", "left"))]
        for n in (19, 8)
    ]
    branches = ", ".join(f"{int(tree.n[v])}" for v in tree.children(8) if tree.attribute[v] < 0)
    of_19 = ", ".join(str(int(tree.n[v])) for v in tree.children(19))
    return (
        "<p>kACTUS goes up a tree. A leaf with at least <i>k</i> rows <i>complies</i> and is"
        " published. Rows of the others climb to the parent; when they are fewer than <i>k</i>,"
        " a complying brother may lend the rows that it does not need itself. Here <i>k</i> ="
        f" {k}. Node 9 of the paper's tree asks for the race:</p>"
        + grid(["node", "race", "rows", "complies"], rows)
        + tasks(
            f"Rows that do not comply: {pen.gap(nine.nui)}"
            + pen.way(" + ".join(str(int(tree.n[v])) for v in sons if tree.n[v] < k), 1),
            f"How many are missing until they are {k}? {pen.gap(wanted)} &nbsp; How many can node"
            f" 11 spare? {pen.gap(nine.extra)}"
            + pen.way(f"{k} − {nine.nui} = {wanted}; {int(tree.n[11])} − {k} = {nine.extra}.", 1),
            f"Rows that move: {pen.gap(nine.moved)}, that are published at node 11:"
            f" {pen.gap(nine.published)}, that node 9 holds afterwards: {pen.gap(nine.left)}",
            "What is suppressed in the rows that climbed? What would they have lost without the"
            " loan?"
            + pen.way(
                "The race, and all that the path does not ask. Without the loan their workclass,"
                " too: they would climb on to node 8.",
                2,
            ),
            f"Go on. Node 19 has leaves of {of_19} rows. Node 8 has node 9, node 19, and leaves of"
            f" {branches} rows."
            + grid(["node", "do not comply", "to spare", "move", "published", "left"], more)
            + pen.way(
                f"At node 8 {log.loc[8, 'nui']} rows wait: they are {k} or more by themselves, so"
                " nothing moves, although node 9 complies.",
                2,
            ),
        )
    )


def _complies(tree, node, k):
    """Has a leaf enough rows? As a word"""
    return "yes" if tree.n[node] >= k else "no"


def of_kadet(pen):
    """kADET's spans: the six clients"""
    t = load_clients()
    asked = ["Marital Status", "Sports Car"]
    tree = GeneralizedID3Classifier().fit(t[asked], t["Loan Risk"]).tree_
    leaves = np.flatnonzero(tree.attribute < 0)

    def of(**options):
        s = spans(tree, t, **options)
        return [(s.people(i), int(n)) for i, n in enumerate(s.populations)]

    by_marital = spans(tree, t, public=["Marital Status"])
    known = of(public=["Marital Status", "Loan Risk"], y="Loan Risk")
    car = of(public=asked)
    rows = [
        [
            t.loc[people[0], "Marital Status"],
            pen.gap(", ".join(people), 22),
            pen.gap(int(by_marital.bins[i])),
            pen.gap(len(people)),
        ]
        for i, people in enumerate(by_marital.people(j) for j in range(len(by_marital.populations)))
    ]
    walkers = t.assign(**{"Sports Car": "No"})
    carless = [int(spans(tree, walkers, public=o).populations.min()) for o in (asked[:1], asked)]
    smallest = min(n for _, n in of(public=asked[:1]))
    alone = [people[0] for people, n in known if n == 1]
    groups, by_car = "; ".join(", ".join(p) for p, _ in car), min(n for _, n in car)
    return (
        "<p>A mortgage company publishes a tree about six clients. A neighbour knows who is married"
        " (<i>public</i>), and wants to learn the rest. A <b>bin</b> is a leaf with a class. The"
        " <b>span</b> of a person: the bins that are possible for whoever knows the public values"
        " only. In brackets: clients of a leaf, and after a stroke those who have the other"
        " risk.</p>"
        + '<div class="beside">'
        + frame(t)
        + f"<pre>{html.escape(tree_text(tree))}</pre></div>"
        + tasks(
            f"How many bins has the tree? {pen.gap(len(leaves) * len(tree.classes))}"
            + pen.way(f"{len(leaves)} leaves, {len(tree.classes)} classes.", 1),
            "The spans, when the marital status is public."
            + grid(["public value", "people", "bins in the span", "people in it"], rows),
            f"The tree is <i>k</i>-anonymous with <i>k</i> = {pen.gap(smallest)}."
            " Why does a leaf of one person do no harm?"
            + pen.way(
                "Nobody knows from the public values who stands in it: the car is private, so each"
                " of three people may.",
                2,
            ),
            "Now the loan risk is public, too. Who is alone? " + pen.gap(", ".join(alone), 14),
            f"Now the car is public, and the risk is private. <i>k</i> = {pen.gap(by_car)}."
            " Groups of people who share a span: " + pen.gap(groups, 46),
            "Who knows more tells more people apart? Suppose that nobody of the six had a car."
            f" <i>k</i> when the marital status is public: {pen.gap(carless[0])}, when the car is"
            f" public, too: {pen.gap(carless[1])}"
            + pen.way(
                "All know then that everybody is at the first leaf, where nobody is asked for the"
                " marital status. More public columns do not always mean a smaller <i>k</i>.",
                2,
            ),
        )
    )


def of_erp(pen):
    """ERP: bits of risk and error-risk ratios of the 14 customers' tree"""
    t = load_customers()
    X, y = t[["Gender", "Marital", "Age"]], t.Bought
    tree = C45Classifier(prune=False).fit(X, y).tree_
    risk = error_risk(tree, X)
    first = error_risk_prune(tree, k=3, X=X).log.node.tolist()
    leaf = tree.attribute < 0
    rows = [
        [
            i,
            int(o.n),
            *(pen.gap(x, 6) for x in (o.BIG, o.ICR, o.R)),
            int(o.E),
            "leaf" if leaf[i] else pen.gap(o.R_branch, 6),
            "" if leaf[i] else pen.gap(o.E_branch, 4),
            "" if leaf[i] else pen.gap(o.ratio, 6),
        ]
        for i, o in risk.iterrows()
    ]
    span = t.Age.max() - t.Age.min()
    old, young = (float(X.Age.max()) - 65) / span, (65 - float(X.Age.min())) / span
    five = risk.loc[5]
    bits = five.R - five.R_branch
    ratio = f"({five.R:.3f} − {five.R_branch:.3f}) / ({five.E:.0f} − {five.E_branch:.0f})"
    head = "node n BIG ICR R E R(B) E(B) ω".split()
    return (
        f"<pre>{html.escape(numbered_tree(tree))}</pre>"
        "<p>Bits of background: <i>BIG</i> = −Σ log<sub>2</sub> of the share of each asked column's"
        f" domain that is left (gender and marital status: two values; ages {t.Age.min()} to"
        f" {t.Age.max()}, {span} years). Bits of identity: <i>ICR</i> = log<sub>2</sub> <i>n</i>."
        " <i>R</i> = <i>BIG</i> + <i>ICR</i>; a small <i>R</i> is a large risk. <i>E</i>: rows that"
        " are not of the node's larger class. Of a branch: <i>R</i>(B) is the smallest <i>R</i> of"
        " its leaves, <i>E</i>(B) the sum of their errors."
        " ω = (<i>R</i> − <i>R</i>(B)) / (<i>E</i> − <i>E</i>(B)).</p>"
        + tasks(
            "Fill in." + grid(head, rows),
            f"The shares of the ages up to 65 and over 65: {pen.gap(young, 7)} {pen.gap(old, 7)}"
            + pen.way(f"{65 - t.Age.min()}/{span} and {t.Age.max() - 65}/{span}.", 1),
            f"What does it gain, and what does it cost, to prune node 5? {pen.gap(bits, 7)} bits,"
            f" {pen.gap(five.E - five.E_branch)} errors"
            + pen.way(f"{ratio} = {five.ratio:.3f} bits an error.", 1),
            "Every leaf shall have three rows. Which nodes are pruned, in which order? "
            + pen.gap(", then ".join(map(str, first)), 12),
            "Node 8 has three rows and more bits than the root. Is it safer than the root?"
            + pen.way(
                "No. A rare path counts as hard to find out; who knows it already has one in three"
                " left. The floor <i>k</i> protects these people, not <i>R</i>.",
                2,
            ),
        )
    )


def numbered_tree(tree):
    """A tree as text, each node with its number"""
    depth = np.zeros(len(tree), int)
    for i in range(1, len(tree)):
        depth[i] = depth[tree.parent[i]] + 1
    lines = {}
    order = [0]
    while order:
        i = order.pop()
        lines[i] = None
        order += reversed(tree.children(i).tolist())
    counts = [", ".join(f"{n:.0f} {c}" for c, n in zip(tree.classes, o)) for o in tree.counts]
    return "\n".join(f"{'    ' * depth[i]}{i}: {branch(tree, i)}({counts[i]})" for i in lines)


def branch(tree, i):
    """The condition on the way into a node"""
    if i == 0:
        return ""
    p = tree.parent[i]
    name, t = tree.names[tree.attribute[p]], tree.threshold[p]
    if np.isfinite(t):
        return f"{name} {'up to' if tree.code[i] == 0 else 'over'} {t:g} "
    return f"{name} = {tree.values[tree.attribute[p]][int(tree.code[i])]} "


def of_worlds(pen):
    """Possible worlds of the 14 customers behind a published tree"""
    t = load_customers()
    X = pd.get_dummies(t[["Gender", "Marital"]]).assign(Age=t.Age)
    model = DecisionTreeClassifier(min_samples_leaf=3, random_state=0).fit(X, t.Bought)
    leaf = pd.Series(model.apply(X), index=t.index)
    yes = (t.Bought == "Yes").astype(int)
    groups = [list(o) for o in leaf.groupby(leaf).groups.values()]
    ages = [(int(t.Age[g].min()), int(t.Age[g].max())) for g in groups]
    buyers = [int(yes[g].sum()) for g in groups]
    ways = [math.comb(len(g), b) for g, b in zip(groups, buyers)]
    beliefs, n_worlds = enumerated(groups, buyers, t.index)
    if n_worlds != math.prod(ways):  # by two ways
        raise AssertionError(f"{n_worlds} worlds were counted, {math.prod(ways)} computed")
    certain = [i for i in t.index if beliefs[i] in (0, 1)]
    asked = [groups[0][0], groups[1][0], groups[2][0]]
    rows = [
        [f"age {a} to {b}", len(g), o, pen.gap(", ".join(map(str, g)), 20), pen.gap(w)]
        for (a, b), g, o, w in zip(ages, groups, buyers, ways)
    ]
    told = next(i for i in groups[0] if yes[i] == 1)
    left = n_worlds // ways[0]
    n = len(t)
    return (
        "<p>The shop publishes a tree with three leaves, and of each leaf the number of customers"
        " and how many bought. You have the list of customers, without what they did.</p>"
        + '<div class="beside">'
        + frame(t[["Gender", "Marital", "Age"]])
        + "<div>"
        + grid(["leaf", "people", "bought", "who", "worlds"], rows)
        + "<p>A <b>world</b> says of each customer whether he or she bought. It is possible when"
        " each leaf has as many buyers as was published.</p>"
        + tasks(
            "Who is in which leaf, and in how many ways can its buyers be chosen? (Above.)",
            f"Possible worlds in all: {pen.gap(n_worlds)}"
            + pen.way(" · ".join(map(str, ways)) + f" = {n_worlds}", 1),
            f"And if only <i>{sum(buyers)} of {n} bought</i> had been published?"
            f" {pen.gap(math.comb(n, sum(buyers)), 6)}" + pen.way(f"{n} over {sum(buyers)}", 1),
            "Share of worlds in which customer "
            + ", ".join(f"{i} bought: {pen.gap(beliefs[i], 6)}" for i in asked),
            f"Who is certain? {pen.gap(', '.join(map(str, certain)), 16)}",
            f"A friend tells you that customer {told} bought. Worlds that are left:"
            f" {pen.gap(left)}. How many customers are certain now?"
            f" {pen.gap(len(certain) + len(groups[0]))}"
            + pen.way(
                f"The first leaf has one buyer, and it is {told}: its {len(groups[0])} people are"
                " all known, by a word about one of them.",
                2,
            ),
        )
        + "</div></div>"
    )


def enumerated(groups, buyers, people):
    """Share of possible worlds in which each bought, and their number, by writing them all down"""
    parts = []
    for g, b in zip(groups, buyers):
        parts.append([set(o) for o in itertools.combinations(g, b)])
    worlds = [set().union(*o) for o in itertools.product(*parts)]
    shares = {i: sum(i in w for w in worlds) / len(worlds) for i in people}
    return shares, len(worlds)


# file: (title, minutes, session, chapter, who writes it)
SHEETS = {
    "1_gain_of_sets": ("What is the gain of a set?", 30, 5, "A tree on sets", of_sets),
    "2_a_cut": ("One cut of Mondrian", 20, 3, "Cuts at medians", of_mondrian),
    "3_node_9": ("kACTUS at node 9", 25, 10, "kACTUS: the tree says what to suppress", of_kactus),
    "4_spans": ("Spans of six clients", 25, 9, "What a tree tells", of_kadet),
    "5_ratios": ("Bits, errors and their ratio", 30, 11, "Error and risk", of_erp),
    "6_worlds": ("Possible worlds of 14 customers", 20, 1, "A tree that tells on you", of_worlds),
}


def page(title, body, head=""):
    """A whole page"""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{esc(title)}</title><style>{STYLE}</style></head><body>{head}"
        f"<main><h1>{esc(title)}</h1>{body}</main></body></html>\n"
    )


def sheet(name, solved=False):
    """A worksheet as a page, or its solution"""
    title, minutes, session, chapter, write = SHEETS[name]
    names = "Solution" if solved else "Name ______________________ &nbsp; Date ____________"
    what = f"Worksheet {name[0]}, for session {session}, {minutes} minutes"
    head = f"<header><span>{what}</span><span>{names}</span></header>"
    foot = f"<footer>ppdt, chapter <i>{esc(chapter)}</i>. Three digits are enough.</footer>"
    return page(title, write(Pen(solved)) + foot, head)


def guides():
    """(file, title, page) for each of the five papers, out of the notebook with the guides"""
    path = Path(__file__).resolve().parent.parent / "nbs/class/reading_guides.ipynb"
    cells = json.loads(path.read_text("utf-8"))["cells"]
    texts = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
    for text in texts:
        found = re.match(r"## (.+)\n+(\*\*Order\.\*\*.+)", text, re.S)
        if found:
            title, words = found.groups()
            # on paper a link is the name of a page
            words = re.sub(r"\[([A-Z][^]]*)\]\([^)]*\)", r"*\1*", words)
            paper = title.partition(":")[0]
            name = f"guide_{re.sub(r'[^a-z]+', '_', paper.lower())}"
            head = f"<header><span>Reading guide</span><span>{esc(paper)}</span></header>"
            notes = "<p><b>Noticed besides.</b></p>" + '<div class="room"></div>' * 20
            foot = "<footer>ppdt, <i>Reading the five papers</i></footer>"
            yield name, title, page(title, rendered(words) + notes + foot, head)


def main(args):
    if len(args) != 1 or args[0].startswith("-"):
        print(__doc__)
        return 2
    folder = Path(args[0])
    folder.mkdir(parents=True, exist_ok=True)
    links = []
    for name, (title, minutes, session, *_) in SHEETS.items():
        for end, solved in (("", False), ("_solution", True)):
            (folder / f"{name}{end}.html").write_text(sheet(name, solved), "utf-8")
        links.append(
            f'<li><a href="{name}.html">{esc(title)}</a>, session {session}, {minutes} minutes'
            f' (<a href="{name}_solution.html">solution</a>)</li>'
        )
    index = "<ol>" + "".join(links) + "</ol><h1>Reading guides</h1><ol>"
    for name, title, text in guides():
        (folder / f"{name}.html").write_text(text, "utf-8")
        index += f'<li><a href="{name}.html">{esc(title)}</a></li>'
    index = page("Worksheets", index + "</ol>")
    (folder / "index.html").write_text(index, "utf-8")
    print(f"{2 * len(SHEETS)} sheets and {len(list(guides()))} guides in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
