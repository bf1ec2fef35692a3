"""Copies files of examples/ into documents, into the fence after each link.

So a reader can paste from the document, and the tests run the files.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("clients.md", "high-availability.md", "javascript.md")
DOCUMENTS = [ROOT / "docs" / name for name in NAMES]
INCLUDE = re.compile(
    r"^(?P<link>\[`(?P<path>examples/(?:clients|high_availability|javascript)/[^`]+)`\]"
    r"\(\.\./(?P=path)\)[^\n]*\n\n)"
    r"(?P<fence>```\w+\n)(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def included(text: str) -> str:
    """The document with the current files."""
    return INCLUDE.sub(lambda m: f"{m['link']}{m['fence']}{code(m['path'])}```", text)


def code(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(included(document.read_text(encoding="utf-8")), encoding="utf-8")
