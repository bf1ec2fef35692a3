"""Reads the HTML of a page, and says what no page may have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlsplit

from qwf_agent.web.site.actions import ACTIONS

VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    ]
)
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
ADDRESSES = ("href", "src", "action", "formaction", "hx-get", "hx-post", "xlink:href")
OURS = re.compile(r"/(?!/)|\?|#|$")


@dataclass
class Seen(HTMLParser):
    """The elements of a page, its texts, and what is wrong with it."""

    html: str
    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.html)
        self.close()
        self.problems += [f"<{tag}> is not closed" for tag in self._open]
        self._check()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.problems.append(f"<{tag}> has an attribute twice: {names}")
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID and not self._is_closed_here():
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1] != tag:
            if not self._is_closed_here():
                self.problems.append(f"</{tag}> closes {self._open[-1:]} at {self.getpos()}")
            if tag in self._open:
                while self._open.pop() != tag:
                    pass
        else:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str]]:
        """The attributes of all elements of this name."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def actions(self) -> set[str]:
        """The actions that its forms send."""
        found = (urlsplit(form.get("action", "")).path for form in self.all("form"))
        return {path.rpartition("/")[2] for path in found if "/do/" in path} & set(ACTIONS)

    @property
    def links(self) -> list[str]:
        """Where its links lead to."""
        return [link["href"] for link in self.all("a") if "href" in link]

    def _is_closed_here(self) -> bool:
        """Return True if the tag that was just read ends itself, as in SVG."""
        return (self.get_starttag_text() or "").endswith("/>")

    def _check(self) -> None:
        for tag, attributes in self.elements:
            self.problems += list(_problems(tag, attributes))
        ids = Counter(a["id"] for _, a in self.elements if "id" in a)
        self.problems += [f"{n} elements have the id {name!r}" for name, n in ids.items() if n > 1]
        for title in ("h1", "head", "main"):
            if len(self.all(title)) != 1:
                self.problems.append(f"{len(self.all(title))} elements {title}")
        if not re.search(r"<title>[^<]+ · qwf</title>", self.html.partition("<body")[0]):
            self.problems.append("the page has no title")
        if [html.get("lang") for html in self.all("html")] != ["en"]:
            self.problems.append("the page does not say its language")
        # A field is sent back, so it has each character; it writes most unseen ones as references.
        unseen = UNSEEN.findall(re.sub(r"<input\b[^>]*>", "", self.html))
        if unseen:
            self.problems.append(f"characters that nobody sees: {sorted(set(unseen))}")
        for form in self.all("form"):
            if form.get("method", "get") == "post" and not form.get("action", "/").startswith("/"):
                self.problems.append(f"a form is sent to {form['action']}")


def _problems(tag: str, attributes: dict[str, str]) -> Iterable[str]:
    """Problems of an element by itself."""
    for name, value in attributes.items():
        if name.startswith(("on", "hx-on")) or name == "style":
            yield f"<{tag} {name}={value[:40]!r}>"
        if name in ADDRESSES and not OURS.match(value) and not _is_foreign(tag, attributes):
            yield f"<{tag} {name}={value[:60]!r}>"
    if tag == "script" and "/static/" not in attributes.get("src", ""):
        yield f"<script> with {attributes}"
    if tag in ("style", "iframe", "object", "embed", "base"):
        yield f"<{tag}>"
    if attributes.get("src") == "x" or attributes.get("onload"):
        yield f"<{tag}> came out of a text"


def _is_foreign(tag: str, attributes: dict[str, str]) -> bool:
    """Return True if it is a link to another site as one should be, or a picture that is in the
    page."""
    if tag == "a":
        rel = attributes.get("rel", "").split()
        safe = {"noopener", "noreferrer"} <= set(rel)
        return attributes.get("href", "").startswith(("http://", "https://")) and safe
    return tag == "img" and attributes.get("src", "").startswith("data:image/")
