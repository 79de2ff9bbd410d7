"""Write the copy of Adult that the package carries: `python scripts/ship_adult.py`.

Reads Adult as fetch_adult does (PPDT_DATA, the cache, the network) and writes ppdt/data/adult.zip;
--check only says whether it is the same.
"""

import sys
from pathlib import Path

from ppdt.datasets import fetch_adult
from ppdt.engine.shipped_adult import AFTER, packed

FILE = Path(__file__).resolve().parent.parent / "ppdt" / "data" / "adult.zip"


def archive():
    """The archive of both parts"""
    first, whole = len(fetch_adult("train")), fetch_adult("all")
    columns = {o: whole[o].astype(object).fillna("?").map(str).tolist() for o in whole}
    return packed(columns, first, AFTER)


def main(args):
    if args not in ([], ["--check"]):
        print(__doc__)
        return 2
    data = archive()
    if args:
        same = FILE.is_file() and FILE.read_bytes() == data
        print(f"{FILE.name} is {'as made from the data' if same else 'another one'}")
        return int(not same)
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_bytes(data)
    print(f"{FILE.name}: {len(data):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
