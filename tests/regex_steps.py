"""How many steps a pattern needs for a text: the same on every machine, where seconds are not"""

import re
import re._constants as ops
import re._parser as parser

__all__ = ["regex_steps"]

_categories = {
    ops.CATEGORY_DIGIT: str.isdigit,
    ops.CATEGORY_SPACE: str.isspace,
    ops.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
}


def _is_in(options, c):
    """Does a class such as [^,] hold a sign?"""
    negate = options[0][0] is ops.NEGATE
    for op, arg in options:
        if (
            op is ops.LITERAL
            and ord(c) == arg
            or op is ops.RANGE
            and arg[0] <= ord(c) <= arg[1]
            or op is ops.CATEGORY
            and _categories[arg](c)
        ):
            return not negate
    return negate


_one_sign = {
    ops.LITERAL: lambda arg, c: ord(c) == arg,
    ops.NOT_LITERAL: lambda arg, c: ord(c) != arg,
    ops.ANY: lambda arg, c: True,
    ops.IN: _is_in,
}


class _Matcher:
    """A plain backtracking matcher that counts what it tries"""

    def __init__(self, text):
        self.text, self.steps = text, 0

    def all(self, items, i, k=0):
        """Where items[k:] may end when they begin at i, in the order of a backtracking engine"""
        self.steps += 1
        if k == len(items):
            yield i
            return
        for j in self.one(*items[k], i):
            yield from self.all(items, j, k + 1)

    def one(self, op, arg, i):
        if op in _one_sign:
            if i < len(self.text) and _one_sign[op](arg, self.text[i]):
                yield i + 1
        elif op is ops.BRANCH:
            for branch in arg[1]:
                yield from self.all(list(branch), i)
        elif op is ops.SUBPATTERN:
            yield from self.all(list(arg[-1]), i)
        elif op is ops.MAX_REPEAT:
            yield from self.greedy(*arg, i, 0)
        elif op is ops.MIN_REPEAT:
            yield from self.lazy(*arg, i, 0)
        elif op is ops.POSSESSIVE_REPEAT:
            yield from self.possessive(*arg, i)
        elif op is ops.AT:
            if i == len(self.text):
                yield i
        else:
            raise NotImplementedError(op)

    def more(self, repeat, low, high, item, i, n):
        if n < high:
            for j in self.all(list(item), i):
                if j > i:
                    yield from repeat(low, high, item, j, n + 1)

    def greedy(self, low, high, item, i, n):
        yield from self.more(self.greedy, low, high, item, i, n)
        if n >= low:
            yield i

    def lazy(self, low, high, item, i, n):
        if n >= low:
            yield i
        yield from self.more(self.lazy, low, high, item, i, n)

    def possessive(self, low, high, item, i):
        n = 0
        while n < high:
            j = next(self.all(list(item), i), i)
            if j == i:
                break
            i, n = j, n + 1
        if n >= low:
            yield i


def regex_steps(pattern, text):
    """(steps that `pattern.fullmatch(text)` needs, whether it matches)"""
    m = _Matcher(text)
    items = list(parser.parse(pattern.pattern, pattern.flags & ~re.U))
    found = any(end == len(text) for end in m.all(items, 0))
    return m.steps, found
