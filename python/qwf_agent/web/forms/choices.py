"""The options of a question or of a schema, and the files that may be chosen."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from qwf_agent.web.forms import exact_json
from qwf_agent.web.forms.wording import LONGEST_HELP, is_list, is_text, visible_text, word

MOST_FACTS = 6
IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
FAILURE_WORDS = {
    "retry": ("Retry", "Run it again, with all its tries."),
    "has_run": ("It has run", "It completes, without an output."),
    "has_not": ("It has not", "Run it again."),
    "skip": ("Skip", "Go on without it: whatever reads its output reads null."),
    "abort": ("Abort", "Fail it for good, and its run with it."),
}
MISSING: Final = object()  # no value at all, which is not the value null


@dataclass(frozen=True)
class File:
    """A file that may be chosen, or shown as the picture of an option."""

    path: str  # what the answer is
    label: str
    url: str | None = None  # of the picture, if it is one


@dataclass(frozen=True)
class Option:
    """One of the values that may be chosen. `key` is a digest of the value: if the question has
    changed since the page was sent, a key does not stand for another value."""

    key: str
    value: Any
    label: str
    help: str = ""
    picture: str | None = None
    score: str | None = None
    facts: tuple[tuple[str, str], ...] = ()


def options_of(
    values: Sequence[Any], files: Sequence[File] = (), *, failure: bool = False
) -> tuple[Option, ...]:
    """The options, each value once. Raises ValueError for a value that cannot be written."""
    pictures = {file.path: file.url for file in files} | {file.label: file.url for file in files}
    found: dict[str, Option] = {}
    for value in values:
        key = key_of(value)
        if key in found:
            continue
        label, help_ = (
            FAILURE_WORDS.get(value, ("", "")) if failure and is_text(value) else ("", "")
        )
        found[key] = (
            _object_option(key, value, pictures)
            if isinstance(value, Mapping)
            else Option(key, value, label or word(value), help_)
        )
    return tuple(found.values())


def _object_option(
    key: str, value: Mapping[str, Any], pictures: Mapping[str, str | None]
) -> Option:
    named = [value[name] for name in ("label", "title", "name", "value", "id") if name in value]
    facts = tuple(
        (visible_text(name, 50), word(one, 100))
        for name, one in value.items()
        if name not in ("label", "help", "picture", "score", "value", "id")
        and not isinstance(one, Mapping | list)
    )
    score = value.get("score")
    picture = value.get("picture")
    if isinstance(picture, Mapping):  # an entry of the files of a node
        picture = picture.get("rel_path")
    return Option(
        key,
        dict(value),
        word(named[0] if named else value),
        visible_text(value["help"], LONGEST_HELP) if is_text(value.get("help")) else "",
        pictures.get(picture) if isinstance(picture, str) else None,
        None if score is None or isinstance(score, Mapping | list) else word(score, 50),
        facts[:MOST_FACTS],
    )


def key_of(value: Any) -> str:
    """The key of an option: a digest of its value. Raises ValueError for what cannot be written."""
    return hashlib.sha256(exact_json.write(value).encode()).hexdigest()[:20]


def _names(value: Any) -> list[Any]:
    """Other values that may stand for an option: its value or its id."""
    return (
        [value[key] for key in ("value", "id") if key in value] if isinstance(value, dict) else []
    )


def stands_for(default: Any, option: Any, multiple: bool = False) -> bool:
    """Return True if the default of a question is this option, or its value or id."""
    return any(_equal(one, default, multiple) for one in (option, *_names(option)))


def _equal(value: Any, default: Any, multiple: bool) -> bool:
    """Return True if the default of a question is, or has, this value."""
    try:
        wanted = default if multiple and isinstance(default, list) else [default]
        return key_of(value) in [key_of(one) for one in wanted if one is not MISSING]
    except ValueError:
        return False


def suffixes_of(accept: Any) -> tuple[str, ...] | None:
    """The suffixes that a file question accepts; None: any, or what only a browser knows."""
    kinds = accept.split(",") if isinstance(accept, str) else accept if is_list(accept) else []
    found: list[str] = []
    for kind in (str(one).strip().lower() for one in kinds):
        if kind == "image/*":
            found += IMAGES
        elif kind.startswith("."):
            found.append(kind)
        else:
            return None
    return tuple(found) or None
