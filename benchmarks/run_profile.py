"""One run of bench_profile in a fresh process; prints JSON.

python run_profile.py FILE
"""

import json
import sys
import time

import common  # first: one thread


def run(path):
    from ppdt.engine.office_files import read_office
    from ppdt.engine.profiling import profile_of

    took = [time.process_time()]
    office = read_office(path)
    took.append(time.process_time())
    found = profile_of(office)
    took.append(time.process_time())
    assert str(found) and found.plan().to_toml()
    took.append(time.process_time())
    parts = [round(b - a, 3) for a, b in zip(took, took[1:])]
    return dict(
        rows=len(office.table),
        columns=office.table.shape[1],
        read_seconds=parts[0],
        profile_seconds=parts[1],
        words_seconds=parts[2],
        cpu_seconds=round(took[-1] - took[0], 3),
        megabytes=round(common.peak() / 1e6),
    )


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1])))
