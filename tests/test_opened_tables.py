"""Methods that are given Parquet files or a Dataset: the release of the table that they hold."""

import pandas as pd
import pytest
from pyarrow import dataset

from ppdt.datasets import load_customers
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tables import TextFormError
from ppdt.tds import TDSAnonymizer

QI = ["Gender", "Marital", "Age"]
METHODS = [
    MondrianAnonymizer(2, QI),
    MondrianAnonymizer(2, QI, mode="infogain"),
    TDSAnonymizer(2, ["Age"], published=["Gender", "Marital"]),
]


@pytest.fixture
def parts(tmp_path):
    """Customers in three files, of which one was written with an index"""
    t = load_customers().reset_index(drop=True)
    t["since"] = pd.Timestamp("2020-02-27") + pd.to_timedelta(t.index % 3, "D")
    t["size"] = pd.Categorical(["S", "M"] * 7, ["S", "M", "L"], ordered=True)
    (tmp_path / "parts").mkdir()
    for i, (a, b) in enumerate([(0, 5), (5, 9), (9, 14)]):
        t[a:b].to_parquet(tmp_path / f"parts/{i}.parquet", index=False)
    t.set_axis([f"row {i}" for i in range(14)]).to_parquet(tmp_path / "whole.parquet")
    return t, tmp_path


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_the_release_of_the_table(parts, method):
    t, folder = parts
    method.set_params(published=[*method.published, "since", "size"])
    wanted = method.anonymize(t.drop(columns="Bought"), t["Bought"])
    opened = dataset.dataset(folder / "parts")
    for X in (folder / "parts", str(folder / "whole.parquet"), opened):
        made = method.anonymize(X, "Bought")
        pd.testing.assert_frame_equal(made.data, wanted.data)
        pd.testing.assert_series_equal(made.y, wanted.y)
        assert made.text().equals(wanted.text()) and made.audit == wanted.audit
    data = method.fit_transform(folder / "parts", "Bought")
    pd.testing.assert_frame_equal(data, wanted.data)


def test_what_cannot_be_read(parts):
    t, folder = parts
    method = METHODS[0]
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        method.anonymize(folder / "nowhere", "Bought")
    with pytest.raises(ValueError, match="'y' must name a column of the table.*'bought'"):
        method.anonymize(folder / "parts", "bought")
    t.to_csv(folder / "whole.csv", index=False)
    with pytest.raises(ValueError, match="Got 'whole.csv': read another file first"):
        method.anonymize(folder / "whole.csv", "Bought")
    at = folder / "parts/1.parquet"
    whole = at.read_bytes()
    at.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TextFormError, match="is it cut off"):
        method.anonymize(folder / "parts", "Bought")
    t[5:9].astype({"Age": float}).to_parquet(at, index=False)
    with pytest.raises(TextFormError, match="Got others in 1.parquet"):
        method.anonymize(folder / "parts", "Bought")
    assert not hasattr(method, "release_")
