"""A CSV file that Arrow reads is read as the careful reader does, and what that one refuses is
refused.
"""

import pytest
from hypothesis import example, given, strategies as st

from ppdt.engine import files
from ppdt.engine.csv_texts import careful_columns, csv_columns
from ppdt.engine.plain_csv import plain_table
from ppdt.tables import TextFormError, read_text, trusted

pieces = st.sampled_from(
    [*',",\n\r\0 ab', "\r\n", "é", "\ufeff", '""', '","', '"\n"', '\n"', '"\n', "\n\n"]
)
contents = st.lists(pieces, max_size=30).map(lambda o: "".join(o).encode())
heads = st.sampled_from([b"", b"a\n", b"a,b\n", b"a,b\r\n", b"\xef\xbb\xbfa,b\n"])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("plain") / "x.csv"


def answer(read):
    """Columns as lists of texts, or the error in words"""
    try:
        return [(o, found[codes].tolist()) for o, (codes, found) in read().items()]
    except TextFormError as e:
        return str(e)


@given(head=heads, content=contents)
@example(head=b"a,b\n", content=b'"1, 2",\xff\n')
@example(head=b"a,b\n", content=b"1,2\n\n3,4\n")
@example(head=b"a,b\n", content=b"1,2\n\n\n")
@example(head=b"a,b\n", content=b'1,2\n"\n\n",4\n')
@example(head=b"a,b\r\n", content=b"1,2\r\n\r\n")
@example(head=b"a,b\r\n", content=b"1,2\r\n3,4\r\n")
@example(head=b"a\n", content=b"1\n\n\n2\n\n")
@example(head=b"a\n", content=b"\xef\xbb\xbf1\n")
@example(head=b"", content=b"\xef\xbb\xbf\xef\xbb\xbfa\n1\n")
@example(head=b"a,b\n", content=b'"1\n2",3\n""\n')
def test_both_readers_say_the_same(path, head, content):
    path.write_bytes(head + content)
    assert answer(lambda: files.read_coded(path)) == answer(
        lambda: careful_columns(path, path.name, ",", "utf-8-sig")
    )


@given(head=heads, content=contents, sep=st.sampled_from(";\t|"))
@example(head=b"a,b\r\n", content=b"1,2\r\n3,4\r\n", sep=";")
@example(head=b"a,b\n", content=b'1,"2,"\n', sep=";")
def test_both_readers_say_the_same_of_other_separators(head, content, sep):
    data = (head + content).replace(b",", sep.encode())
    assert answer(lambda: csv_columns(data, "x.csv", sep)) == answer(
        lambda: careful_columns(data, "x.csv", sep, "utf-8-sig")
    )


@given(rows=st.lists(st.lists(st.sampled_from(["", "1", "{1, 2}", "a b"]), min_size=2, max_size=2)))
def test_releases_are_plain(path, rows):
    lines = [",".join(f'"{o}"' if "," in o else o for o in row) for row in rows]
    path.write_text("\n".join(["a,b", *lines, ""]), "utf-8", newline="")
    assert plain_table(path) is not None or not rows
    assert read_text(path).to_numpy().tolist() == rows


@pytest.mark.parametrize("limit", ["rows", "fields", "columns", "cell_length", "file_bytes"])
def test_limits_hold_for_plain_files(path, limit):
    path.write_text("a,b\n" + "1,abcd\n" * 3, "utf-8", newline="")
    assert plain_table(path) is not None
    at_most = {"rows": 2, "fields": 5, "columns": 1, "cell_length": 3, "file_bytes": 10}[limit]
    with trusted(**{limit: at_most}), pytest.raises(TextFormError):
        read_text(path)
    enough = {"rows": 3, "fields": 6, "columns": 2, "cell_length": 4, "file_bytes": 40}[limit]
    with trusted(**{limit: enough}):
        assert len(read_text(path)) == 3


def test_texts_over_several_blocks(path):
    """Arrow reads a megabyte at a time, each with its own list of texts"""
    rows = [f"{i % 7},{i}" for i in range(200_000)]
    path.write_text("\n".join(["a,b", *rows]), "utf-8", newline="")
    assert plain_table(path) is not None
    assert answer(lambda: files.read_coded(path)) == answer(
        lambda: careful_columns(path, path.name, ",", "utf-8-sig")
    )
