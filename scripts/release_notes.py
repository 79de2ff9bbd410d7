"""Print the part of CHANGELOG.md that belongs to a tag. `python scripts/release_notes.py v0.1.0`

It fails when the tag is not the version of settings.ini, when CHANGELOG.md has no such part, or
when the part still says "not yet released"."""

import re
import sys
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def version() -> str:
    """The version of settings.ini"""
    cfg = ConfigParser(delimiters=["="])
    cfg.read(ROOT / "settings.ini", encoding="utf-8")
    return cfg["DEFAULT"]["version"]


def notes(tag: str, changelog: str, current: str) -> str:
    """The part of a changelog for a tag. Raises ValueError when there is none that fits"""
    name = tag.removeprefix("v")
    if name != current:
        raise ValueError(
            f"the tag is {tag}, and settings.ini has version {current}: make them agree"
        )
    parts = re.split(r"^## ", changelog, flags=re.M)[1:]
    found = next((o for o in parts if re.match(re.escape(name) + r"\b(?!\.)", o)), None)
    if found is None:
        raise ValueError(f"CHANGELOG.md has no part '## {name}': write one")
    title, _, text = found.partition("\n")
    if "not yet released" in title:
        raise ValueError(f"CHANGELOG.md says '## {title}': put the date there")
    return text.strip()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        print(notes(sys.argv[1], (ROOT / "CHANGELOG.md").read_text("utf-8"), version()))
    except ValueError as e:
        sys.exit(str(e))
