"""How many random tables a property is tried on: of what the profile draws, one in `n` where a
table takes long.
"""

from hypothesis import settings


def one_in(n, least=1):
    """A decorator, as `settings` is: one in `n` of the profile's tables, and at least `least`"""
    return settings(max_examples=max(least, round(settings().max_examples / n)))
