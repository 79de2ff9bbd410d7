"""Says whether an answer is right, without knowing it: only hashes of the answers lie beside it.

    from class_check import check
    check("01_leaks", 1, answer)

Numbers may be rounded to four digits or more. `yes` and `no` are words, or True and False. Lists,
tuples, arrays and columns are one thing, and so are lists in lists and one list; sets are sorted.
"""

import hashlib
import hmac
import json
import math
import numbers
from fractions import Fraction
from pathlib import Path

STORED = Path(__file__).with_suffix(".json")
ROUNDS = 20_000  # of hashing: to try all numbers shall take long


def canonical(answer, shift=0.0):
    """The text that is hashed: fractions of a number to three digits, after a relative `shift`

    Lists in lists are one list: `([2, 3], 5)` is the answer `[2, 3, 5]`.
    """
    parts = texts(answer, shift)
    return parts if isinstance(parts, str) else f"[{', '.join(parts)}]"


def texts(answer, shift):
    """The text of a number or a word; of a list those of its members, which may be lists"""
    if hasattr(answer, "tolist"):
        answer = answer.tolist()
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, str):
        return " ".join(answer.casefold().split())
    if isinstance(answer, numbers.Integral):
        return str(int(answer))
    if isinstance(answer, (numbers.Real, Fraction)):
        value = float(answer)
        whole = math.isfinite(value) and abs(value - round(value)) < 1e-9
        return str(round(value)) if whole else f"{value * (1 + shift):.3g}"
    if isinstance(answer, dict):
        answer = answer.items()
    told = [texts(o, shift) for o in answer]
    if isinstance(answer, (set, frozenset)):
        told.sort(key=lambda o: o if isinstance(o, str) else f"[{', '.join(o)}]")
    return [text for o in told for text in ([o] if isinstance(o, str) else o)]


def pbkdf2(text, salt):
    """PBKDF2 with HMAC and SHA-256, one block of 32 bytes (RFC 8018, section 5.2); `text`, `salt`:
    bytes

    It is here for Python in a browser, which is built without OpenSSL: its `hashlib` lacks it.
    """
    keyed = hmac.new(text, digestmod="sha256")
    block, total = salt + (1).to_bytes(4, "big"), 0
    for _ in range(ROUNDS):
        mac = keyed.copy()
        mac.update(block)
        block = mac.digest()
        total ^= int.from_bytes(block, "big")
    return total.to_bytes(32, "big")


def digest(name, task, text):
    """Hash of a canonical text; each task has a salt of its own"""
    text, salt = text.encode(), f"ppdt/{name}/{task}".encode()
    if hasattr(hashlib, "pbkdf2_hmac"):
        return hashlib.pbkdf2_hmac("sha256", text, salt, ROUNDS).hex()
    return pbkdf2(text, salt).hex()


def is_right(name, task, answer):
    """Is `answer` the one whose hash is stored, but for the rounding of its last digit?"""
    stored = json.loads(STORED.read_text("utf-8"))[f"{name} {task}"]
    tried = {canonical(answer, o) for o in (0, 2e-4, -2e-4)}
    return any(digest(name, task, o) == stored for o in tried)


def check(name, task, answer):
    """Print whether `answer` is right for a task of the page `name`"""
    if answer is ...:
        print("Not answered yet.")
        return
    try:
        right = is_right(name, task, answer)
    except TypeError:
        print("Not right: a number, a word, or a list of these is asked for.")
        return
    print("Right." if right else "Not right.")
