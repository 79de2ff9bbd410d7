"""One run of bench_attacks in a fresh process; prints JSON.

python run_attacks.py ATTACKER METHOD ROWS     people published; as many others are asked as well
"""

import json
import sys
import time

import common  # first: one thread


def run(attacker, method, n):
    from ppdt.attacks import FittingRows, Presence, attack
    from ppdt.datasets import make_population
    from ppdt.kactus import KActusAnonymizer
    from ppdt.mondrian import MondrianAnonymizer

    n = int(n)
    tool = {
        "strict": lambda: MondrianAnonymizer(k=5),
        "relaxed": lambda: MondrianAnonymizer(k=5, mode="relaxed"),
        "kactus": lambda: KActusAnonymizer(k=5, numeric="interval", random_state=0),
    }[method]()
    t = make_population(2 * n, random_state=0)
    people, y = t[common.POPULATION_QI], t["income"]
    release = tool.anonymize(people[:n], y[:n])
    before = common.peak()
    who = {"FittingRows": FittingRows, "Presence": Presence}[attacker](release)
    start, wall = time.process_time(), time.perf_counter()
    asked = (y[:n], y[n:]) if attacker == "FittingRows" else (None, None)
    found = attack(who, people[:n], asked[0], people[n:], asked[1])
    cpu, seconds = time.process_time() - start, time.perf_counter() - wall
    return dict(
        people=n,
        seconds=round(seconds, 3),
        cpu_seconds=round(cpu, 3),
        megabytes_before=round(before / 1e6),
        megabytes=round(common.peak() / 1e6),
        presence_in=round(found.presence.share_in, 4),
        presence_out=round(found.presence.share_out, 4),
    )


if __name__ == "__main__":
    print(json.dumps(run(*sys.argv[1:])))
