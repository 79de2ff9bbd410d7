"""How many lines of Python a call runs: the same on every machine, where seconds are not"""

import sys

__all__ = ["python_lines"]


def python_lines(call):
    """Lines of Python run by `call()`, numpy's own inside; a loop over rows counts each round"""
    lines, before = 0, sys.gettrace()

    def count(frame, event, arg):
        nonlocal lines
        lines += event == "line"
        return count

    sys.settrace(count)
    try:
        call()
    finally:
        sys.settrace(before)
    return lines
