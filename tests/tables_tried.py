"""How many tables were given to each method: counted under `make stress`, told at its end."""

import functools
from collections import Counter

import registry

TRIED, REFUSED = Counter(), Counter()


def _counted(cls):
    fit = cls.fit

    @functools.wraps(fit)
    def counting(self, *args, **kwargs):
        TRIED[cls.__name__] += 1
        try:
            return fit(self, *args, **kwargs)
        except Exception:
            REFUSED[cls.__name__] += 1
            raise

    cls.fit = counting


def begin():
    for cls in (*registry.ANONYMIZERS, *registry.CLASSIFIERS):
        _counted(cls)


def lines():
    """One line for each method; a refusal is a message, checked by the test that draws it"""
    for name in sorted(TRIED):
        yield f"{name}: {TRIED[name]:,} tables, {REFUSED[name]:,} of them refused"
