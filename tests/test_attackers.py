"""Attackers who know everybody, the program, several releases or some members: brute force."""

import itertools
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import assume, given, strategies as st
from registry import ANONYMIZERS, tasks
from sklearn.base import clone

from ppdt.attacks import (
    Crossing,
    FittingRows,
    LeafCounts,
    Matching,
    Presence,
    Queries,
    Rerun,
    Sums,
    attack,
)
from ppdt.c45 import C45Classifier, ID3Classifier
from ppdt.datasets import load_customers
from ppdt.diversity import Alpha, RandomizedResponse
from ppdt.engine.known_brothers import without_brothers
from ppdt.erp import ERPAnonymizer
from ppdt.generalization import Taxonomy
from ppdt.kactus import KActusAnonymizer
from ppdt.kadet import KADETClassifier
from ppdt.lattice import LatticeAnonymizer
from ppdt.matching import consistent
from ppdt.mict import MicroaggregationAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit

CUSTOMERS = load_customers()
X, Y = CUSTOMERS.drop(columns="Bought"), CUSTOMERS.Bought

tables = st.integers(4, 6).flatmap(
    lambda n: st.tuples(
        st.lists(
            st.tuples(st.integers(0, 3), st.sampled_from("xyz")),
            min_size=n,
            max_size=n,
        ),
        st.lists(st.sampled_from(["no", "yes"]), min_size=n, max_size=n),
    )
)
PROGRAMS = (
    MondrianAnonymizer(k=2),
    MondrianAnonymizer(k=2, constraints=[Alpha(0.75)]),
    MondrianAnonymizer(k=2, mode="relaxed", constraints=[Alpha(0.75)]),
    MondrianAnonymizer(k=2, mode="infogain"),
    KActusAnonymizer(k=2, numeric="interval", random_state=0),
    MicroaggregationAnonymizer(k=2, constraints=[Alpha(0.75)]),
    ERPAnonymizer(k=2, random_state=0),
)


def opened(drawn):
    rows, classes = drawn
    table = pd.DataFrame(rows, columns=["a", "b"])
    return table, pd.Series(classes, name="c")


def published(program, table, y):
    "A release, or None"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # methods without a split say so
        try:
            return program.anonymize(table, y)
        except ValueError:
            return None


def yes(beliefs):
    classes = list(beliefs.classes)
    if "yes" not in classes:
        return np.zeros(len(beliefs.shares))
    return beliefs.shares[:, classes.index("yes")]


def alike(table, shares):
    "Equal people share their beliefs"
    return pd.Series(shares).groupby([table.a, table.b]).transform("mean")


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
@one_in(40)
@given(drawn=tables)
@pytest.mark.filterwarnings("ignore")
def test_run_backwards_over_all_tables_of_classes(program, drawn):
    table, y = opened(drawn)
    release = published(program, table, y)
    assume(release is not None)
    same = release.text().to_csv(index=False)
    kept = []
    for classes in itertools.product(["no", "yes"], repeat=len(table)):
        if not set(classes) <= set(release.y):
            continue  # a class that nobody shows: lost rows are believed to have those shown
        made = published(program, table, pd.Series(classes, name="c"))
        if made is not None and made.text().to_csv(index=False) == same:
            kept.append([o == "yes" for o in classes])
    told = Rerun(program, release, table)
    assert (told.is_exact, told.n_kept) == (True, len(kept))
    np.testing.assert_allclose(yes(told.believe(table)), alike(table, np.mean(kept, axis=0)))


@one_in(20)
@given(drawn=tables, k=st.integers(2, 3))
def test_all_ways_to_give_everybody_a_row(drawn, k):
    table, y = opened(drawn)
    release = published(ERPAnonymizer(k=k, random_state=0), table, y)
    assume(release is not None and not len(release.lost))
    taxonomies = dict(release.taxonomies or {})
    fits = consistent(table, release.data[["a", "b"]], None, ["b"], taxonomies)
    n = range(len(table))
    ways = [p for p in itertools.permutations(n) if fits[n, p].all()]
    classes = (release.y == "yes").to_numpy()
    by_hand = np.mean([classes[list(p)] for p in ways], axis=0)
    told = Matching(release, table)
    assert told.n_estimated == 0
    np.testing.assert_allclose(yes(told.believe(table)), alike(table, by_hand))


def test_matching_of_disjoint_groups_is_what_their_rows_say():
    release = MondrianAnonymizer(k=3).anonymize(X, Y)
    told, plain = Matching(release, X).believe(X), FittingRows(release).believe(X)
    np.testing.assert_allclose(told.shares, plain.shares)
    assert told.rows.tolist() == plain.rows.tolist()


@pytest.mark.filterwarnings("ignore")
def test_lost_people_may_have_any_class():
    table = pd.DataFrame({"a": [1, 1, 1, 9], "b": list("xxxy")})
    y = pd.Series(["yes", "yes", "no", "yes"], name="c")
    release = MondrianAnonymizer(k=3).anonymize(table.iloc[:3], y.iloc[:3])
    told = Matching(release, table).believe(table)
    np.testing.assert_allclose(yes(told), 2 / 3)


@one_in(7)
@given(drawn=tables, ks=st.tuples(st.integers(2, 3), st.integers(2, 4)))
def test_worlds_that_agree_with_two_releases(drawn, ks):
    table, y = opened(drawn)
    made = [
        published(MondrianAnonymizer(k=ks[0]), table, y),
        published(MondrianAnonymizer(k=ks[1], mode="relaxed"), table, y),
    ]
    assume(None not in made)
    groups = [FittingRows(o).believe(table).rows for o in made]
    both = Crossing(made, table)
    keys = []
    for o in made:
        fits = consistent(table, o.data[["a", "b"]], None, ["b"])
        keys.append([tuple(np.flatnonzero(row)) for row in fits])
    partition = all(all(a == b or not set(a) & set(b) for a in key for b in key) for key in keys)
    assume(partition)
    kept = []
    for classes in itertools.product([False, True], repeat=len(table)):
        world = np.array(classes)
        agrees = all(
            world[[a == key[i] for a in key]].sum() == (o.y.to_numpy()[list(key[i])] == "yes").sum()
            for o, key in zip(made, keys)
            for i in range(len(table))
        )
        if agrees:
            kept.append(world)
    assert (both.is_exact, both.n_worlds) == (True, len(kept))
    np.testing.assert_allclose(yes(both.believe(table)), alike(table, np.mean(kept, axis=0)))
    crowds = pd.Series(1, index=table.index).groupby([pd.Series(o) for o in keys]).transform("sum")
    assert both.crowds(table).tolist() == crowds.tolist()
    assert all(both.crowds(table) <= np.min(groups, axis=0))


@one_in(7)
@given(drawn=tables)
def test_without_a_list_what_is_certain_is_true(drawn):
    table, y = opened(drawn)
    made = [
        published(MondrianAnonymizer(k=2), table, y),
        published(MondrianAnonymizer(k=2, mode="infogain"), table, y),
    ]
    assume(None not in made)
    told = Crossing(made).believe(table)
    assert (told.guess == y)[told.is_certain].all()
    plain = [FittingRows(o).believe(table).is_certain for o in made]
    assert told.is_certain[np.logical_or(*plain)].all()


@one_in(4)
@given(
    numbers=st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 9)), min_size=4, max_size=12),
    data=st.data(),
)
def test_the_last_of_a_group_is_what_is_left_of_its_sum(numbers, data):
    table = pd.DataFrame(numbers, columns=["p", "q"])
    y = pd.Series(["no", "yes"] * len(table), name="c")[: len(table)]
    release = published(MicroaggregationAnonymizer(k=2), table, y)
    assume(release is not None)
    left = data.draw(st.sets(st.sampled_from(range(len(table))), min_size=1, max_size=3))
    found = Sums(release, table.drop(index=list(left))).values()
    assert set(found.index) <= left
    for o in found:
        exact = found[o].notna()
        np.testing.assert_allclose(found[o][exact], table[o][found.index][exact], atol=1e-6)


def test_a_friend_of_people_with_drawn_classes_is_never_sure():
    """(`Sums` took drawn classes for true ones)"""
    drawn = RandomizedResponse(0.9, ["No", "Yes"], random_state=0)
    for made in (MondrianAnonymizer(k=3), MicroaggregationAnonymizer(k=3)):
        r = made.set_params(constraints=[drawn]).anonymize(X, Y)
        for i in X.index:
            seen = Sums(r, X.drop(index=i)).believe(X.loc[[i]])
            assert seen.shares.max() == pytest.approx(0.9) and not seen.is_certain.any()
            assert seen.classes[seen.shares[0].argmax()] == r.y[i]


def test_dates_that_are_averages():
    days = pd.to_datetime(["2024-01-01", "2024-01-03", "2024-06-01", "2024-06-03"])
    table = pd.DataFrame({"day": days, "n": [1, 1, 2, 2]})
    y = pd.Series(["a", "a", "b", "b"], name="c")
    release = MicroaggregationAnonymizer(k=2).anonymize(table, y)
    told = FittingRows(release).believe(table)
    assert told.guess.tolist() == list(y) and told.rows.tolist() == [2] * 4


def test_the_root_of_a_tree_made_of_the_data_says_nothing():
    tree = Taxonomy.from_quantiles(X.Age)
    levels = {"Age": (tree.height, tree.height)}
    program = LatticeAnonymizer(k=2, taxonomies={"Age": tree}, levels=levels)
    release = program.anonymize(X, Y)
    assert not release.taxonomies["Age"].is_whole
    assert FittingRows(release).believe(X.assign(Age=X.Age + 60)).rows.min() >= 2


@pytest.mark.parametrize("as_table", [False, True])
def test_an_audit_beside_an_earlier_release(as_table):
    first, second = (MondrianAnonymizer(k=k).anonymize(X, Y) for k in (3, 7))
    crowds = Crossing([first, second]).crowds(X)
    words = {"quasi_identifiers": list(X), "categorical": ["Gender", "Marital"]}
    both = (first.data, second.data) if as_table else (first, second)
    found = audit(both[0], k=3, original=X, against=both[1], **(words if as_table else {}))
    assert (found.crossed_k, found.crossed_below_k) == (crowds.min(), (crowds < 3).mean())
    assert found.holds, "a finding beside the promise"
    assert "below the promised k" in str(found)
    assert audit(both[0], original=X, **(words if as_table else {})).crossed_k is None
    with pytest.raises(ValueError, match="'against' needs 'original'"):
        audit(first, against=second)


def test_an_audit_beside_an_earlier_release_without_k():
    """The release knows its k, 3; nobody said one of a table"""
    first, second = (MondrianAnonymizer(k=k).anonymize(X, Y) for k in (3, 7))
    crowds = Crossing([first, second]).crowds(X)
    found = audit(first, original=X, against=second)
    assert found.crossed_below_k == (crowds < 3).mean() > 0
    words = {"quasi_identifiers": list(X), "categorical": ["Gender", "Marital"]}
    found = audit(first.data, original=X, against=second.data, **words)
    assert found.crossed_k == crowds.min() and found.crossed_below_k is None


def test_presence_asks_for_no_class():
    release = MondrianAnonymizer(k=3).anonymize(X, Y)
    strangers = X.assign(Age=X.Age + 60)
    told = attack(Presence(release.data), X, None, strangers, None)
    assert (told.presence.share_in, told.presence.share_out) == (1, 0)
    assert (told.certain, told.guess) == (None, None)
    assert str(told).count("\n") == 0
    with pytest.raises(ValueError, match="both be classes, or both None"):
        attack(Presence(release), X, Y, strangers, None)


def test_a_walk_comes_near_to_all_worlds():
    program = MondrianAnonymizer(k=2, constraints=[Alpha(0.75)])
    release = program.anonymize(X[:6], Y[:6])
    all_of_them = Rerun(program, release, X[:6]).believe(X[:6])
    some = Rerun(program, release, X[:6], max_worlds=1, start=Y[:6], n_steps=400)
    assert not some.is_exact
    near = np.abs(some.believe(X[:6]).shares - all_of_them.shares)
    assert near.max() < 0.12


def test_chance_whose_seed_is_not_known_tells_less_or_as_much():
    program = ERPAnonymizer(k=2, random_state=None)
    few, classes = X[:6], Y[:6]
    release = ERPAnonymizer(k=2, random_state=0).anonymize(few, classes)
    with pytest.raises(ValueError, match="'anonymizer' must have a random_state"):
        Rerun(program, release, few)
    told = Rerun(program, release, few, seeds=range(3))
    assert 1 <= told.n_kept <= told.n_worlds
    with pytest.raises(ValueError, match="draws nothing"):
        Rerun(MondrianAnonymizer(), MondrianAnonymizer(k=2).anonymize(X, Y), X, seeds=[0])


def test_what_cannot_be_used_is_refused():
    release = MondrianAnonymizer(k=3).anonymize(X, Y)
    means = MicroaggregationAnonymizer(k=3).anonymize(X, Y)
    with pytest.raises(ValueError, match="'release' must say which values are possible"):
        Matching(means, X)
    with pytest.raises(ValueError, match="'people' must be everybody"):
        Matching(release, X.assign(Age=X.Age + 60))
    with pytest.raises(ValueError, match="does not explain"):
        Rerun(MondrianAnonymizer(k=3), release, X.assign(Age=X.Age + 60))
    with pytest.raises(ValueError, match="must show the same classes"):
        Crossing([release, FittingRows(release.data, ["a"] * 7 + ["b"] * 7)])
    with pytest.raises(ValueError, match="index of the release's table"):
        Sums(release, X.set_axis(range(100, 114)))
    with pytest.raises(ValueError, match="'start' must be the classes"):
        Rerun(MondrianAnonymizer(k=3), release, X, max_worlds=1, start=Y[:3])
    with pytest.raises(TypeError, match="ask Crossing"):
        FittingRows([release, release])


def test_a_model_knows_its_people_better():
    numbers = X[["Age"]]
    model = C45Classifier(prune=False, min_samples_leaf=1).fit(numbers[:7], Y[:7])
    told = attack(Queries(model), numbers[:7], Y[:7], numbers[7:], Y[7:])
    scores = model.score(numbers[:7], Y[:7]), model.score(numbers[7:], Y[7:])
    assert told.guess.gain == pytest.approx(scores[0] - scores[1])


@pytest.mark.parametrize("cls", ANONYMIZERS, ids=lambda c: c.__name__)
@one_in(25)
@given(data=st.data())
@pytest.mark.filterwarnings("ignore")
def test_no_attacker_excludes_the_truth(cls, data):
    """Of every method, with all options: each person is in, and may have the class she has"""
    table, y, p = data.draw(tasks(cls, missing=False))
    assume(y is not None)
    release = published(cls(**p), table, y)
    # of a person with several rows, and without quasi-identifiers, there is nobody to ask about
    assume(release is not None and len(release.data) and "person" not in p)
    assume(not len(release.lost) and release.roles.quasi_identifiers)
    known = table[list(release.roles.quasi_identifiers)]
    classes = [str(o) for o in y]
    attackers = [FittingRows(release), Crossing([release, release])]
    if not FittingRows(release).averaged and release.audit.holds:
        attackers.append(Matching(release, known))
    for attacker in attackers:
        told = attacker.believe(known)
        place = {str(c): i for i, c in enumerate(told.classes)}
        own = told.shares[range(len(y)), [place[o] for o in classes]]
        np.testing.assert_allclose(told.shares.sum(axis=1), 1)
        if not FittingRows(release).averaged:
            assert (own > 0).all() and (told.rows > 0).all()
            assert np.array(classes)[told.is_certain].tolist() == [
                str(o) for o in told.guess[told.is_certain]
            ]


@one_in(10)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("pqrs"), st.sampled_from("xyz"), st.sampled_from("nv")),
        min_size=14,
        max_size=24,
    ),
    k=st.integers(3, 5),
)
@pytest.mark.filterwarnings("ignore")
def test_who_knows_the_tree_excludes_what_would_have_been_published_otherwise(rows, k):
    table = pd.DataFrame(rows, columns=["a", "b", "c"])
    y = table.pop("c")
    assume(y.nunique() > 1)
    tree = ID3Classifier().fit(table, y)
    made = KActusAnonymizer(k=k, inducer=tree, selection="first")
    release = made.fit(table, y).release_
    known = without_brothers(made)
    kept = np.setdiff1d(np.arange(len(table)), release.lost)
    same = release.text().to_csv(index=False)
    for o in known:
        narrow = np.flatnonzero(known[o].astype(str) != release.data[o].astype(str))
        for at in narrow:
            person = kept[at]
            assert table[o][person] in known[o].iloc[at].values
            for value in set(table[o]) - set(known[o].iloc[at].values):
                other = table.copy()
                other.loc[person, o] = value
                again = published(clone(made), other, y)
                assert again is None or again.text().to_csv(index=False) != same


crowds = st.lists(st.tuples(st.sampled_from("wxyz"), st.booleans()), min_size=7, max_size=11)


@one_in(4)
@given(rows=crowds, k=st.sampled_from([2, 3]), seed=st.integers(0, 3))
@pytest.mark.filterwarnings("ignore")
def test_mixed_brothers_leave_every_value_open(rows, k, seed):
    "Who stands in a batch that climbed might have a published brother's value: by some seed"
    table, y = pd.DataFrame({"b": [b for b, _ in rows]}), pd.Series([c for _, c in rows], name="c")
    tree = ID3Classifier().fit(table, y)
    made = KActusAnonymizer(k=k, inducer=tree, brothers="mixed", random_state=seed)
    try:
        release = made.fit(table, y).release_
    except ValueError:
        assume(False)
    assert release.audit.k is None or release.audit.k >= k
    assert without_brothers(made).equals(release.data)
    climb, same = made.climb_, release.text().to_csv(index=False)
    if climb is None or not len(climb.batches):
        return
    log = climb.log[(climb.log.nui >= k) & (climb.log.node >= 0)]
    for entry in log.itertuples():
        assert entry.moved >= len(entry.complying)
        for batch in (b for v, b in zip(climb.nodes, climb.batches) if v == entry.node):
            told = {table.b[climb.batches[list(climb.nodes).index(v)][0]] for v in entry.complying}
            assert told <= set(table.b[batch])
            person, other = batch[0], next(iter(i for i in batch if table.b[i] in told), batch[0])
            changed = table.copy()
            changed.loc[[person, other], "b"] = table.b[[other, person]].to_numpy()
            seeds = (clone(made).set_params(random_state=s) for s in range(40))
            assert any(o.anonymize(changed, y).text().to_csv(index=False) == same for o in seeds)


def test_a_star_of_mixed_brothers_costs_a_row_each():
    "Six x, five y, and two z with two w who climb: one x and one y go with them"
    table = pd.DataFrame({"b": list("xxxxxxyyyyyzzww")})
    y = pd.Series([o in "xz" for o in table.b], name="c")
    tree = ID3Classifier().fit(table, y)
    shown = {}
    for how in ("shown", "mixed"):
        made = KActusAnonymizer(k=3, inducer=tree, brothers=how, random_state=0).fit(table, y)
        shown[how] = made.release_.text().b.value_counts().to_dict()
        known = without_brothers(made).b.astype(str)
        assert ("{w, z}" in set(known)) == (how == "shown")
    assert shown == {"shown": {"x": 6, "y": 5, "*": 4}, "mixed": {"x": 5, "y": 4, "*": 6}}
    with pytest.raises(ValueError, match="'brothers' must be 'shown' with rule='literal'"):
        KActusAnonymizer(k=3, rule="literal", brothers="mixed").fit(table, y)


# ---------- the counts of a published tree
@st.composite
def trees_and_people(draw):
    """(a tree learnt from a few people, they, their classes, which of them are known)"""
    n = draw(st.integers(4, 9))
    X = pd.DataFrame(
        {
            "x": draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)),
            "w": draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n)),
        }
    )
    y = draw(st.lists(st.sampled_from(["No", "Yes"]), min_size=n, max_size=n))
    assume(len(set(y)) == 2)
    leaf = draw(st.integers(1, 3))
    model = C45Classifier(prune=False, min_samples_leaf=leaf).fit(X, y)
    who = draw(st.lists(st.integers(0, n - 1), unique=True, max_size=n - 1))
    return model, X, np.array(y), who


@one_in(2)
@given(trees_and_people())
def test_counts_without_those_who_are_known_are_all_worlds(drawn):
    """Among all ways to give the others their classes that make the tree's counts, each is as
    likely; the belief is the share of those in which somebody has a class
    """
    model, X, y, who = drawn
    rest = [i for i in range(len(X)) if i not in who]
    reader = LeafCounts(model, X.iloc[who], y[who]) if who else LeafCounts(model)
    seen = reader.believe(X.iloc[rest])
    place = [leaf_of(model.tree_, row) for row in X.to_dict("records")]
    wanted = Counter(zip(place, y))
    tally = np.zeros((len(rest), 2))
    for classes in itertools.product(["No", "Yes"], repeat=len(rest)):
        world = y.copy()
        world[rest] = classes
        if Counter(zip(place, world)) == wanted:
            tally += [[c == "No", c == "Yes"] for c in classes]
    names = [list(seen.classes).index(c) for c in ("No", "Yes")]
    shares = seen.shares[:, names]
    assert shares == pytest.approx(tally / tally.sum(axis=1, keepdims=True))
    here = [place[i] for i in rest]
    assert seen.rows.tolist() == [here.count(o) for o in here]


def leaf_of(tree, row):
    """The leaf of a person, by walking"""
    node = 0
    while tree.attribute[node] >= 0:
        name = tree.names[tree.attribute[node]]
        kids = tree.children(node)
        if np.isfinite(tree.threshold[node]):
            node = kids[0 if row[name] <= tree.threshold[node] else 1]
        else:
            values = tree.values[tree.attribute[node]]
            node = next(k for k in kids if values[tree.code[k]] == row[name])
    return int(node)


def test_counts_that_cannot_be_read_are_refused():
    model = C45Classifier().fit(X, Y)
    for known, classes, words in (
        (X.head(2), None, "'y' must be given with 'known'"),
        (X.head(2), ["Yes"], "one for each of 'known'"),
        (X.head(2), ["Yes", "Perhaps"], "classes of the tree. Got Perhaps"),
        (X.head(2), ["No", "No"], "learnt from"),
        (X.head(2).assign(Age=[30, None]), ["Yes", "Yes"], "missing"),
    ):
        with pytest.raises(ValueError, match=words):
            LeafCounts(model, known, classes)
    with pytest.raises(TypeError):
        LeafCounts(7).believe(X)
    other = X.replace({"Gender": {"Male": "Robot"}})  # no branch leads on: nobody stands there
    assert (LeafCounts(model).believe(other).rows > 0).tolist() == (X.Gender == "Female").tolist()


@pytest.mark.parametrize("cls", [C45Classifier, ID3Classifier, KADETClassifier])
def test_counts_exclude_nobody_whom_they_count(cls):
    model = cls().fit(X, Y)
    seen = LeafCounts(model).believe(X)
    own = [list(seen.classes).index(c) for c in Y]
    assert (seen.rows > 0).all() and (seen.shares[np.arange(len(X)), own] > 0).all()
