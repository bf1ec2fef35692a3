"""The search language of the page and the terminal.

A query is words, each of which narrows the list: `state:failed task:resize args.order=7
label:team=ops since:2h "card declined"`. A value with spaces stands in quotes. Words without a
field are a part of the key, the arguments or the error. A query is read into fields, which the
address of a page has as well, and these into the filter of qwf.find_jobs or qwf.find_runs.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

MOST_ID = 2**63 - 1
LONGEST = 1000  # letters of one value
AGO = re.compile(r"(\d{1,6}) ?(min|m|h|d|w)")
UNITS = {"min": "minutes", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
WORD = re.compile(r'(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+', re.DOTALL)
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"?', re.DOTALL)
FIELD = re.compile(r"([a-z]+)(?=[:.])")
STATES = {"asked": "awaiting_input", "awaiting": "awaiting_input", "done": "completed"}


class QueryError(ValueError):
    """A query that means nothing. The text tells the person what to write."""


@dataclass(frozen=True)
class Language:
    """The words before a colon, and the names of the fields that they stand for."""

    fields: Mapping[str, str]

    def chosen(self, address: Mapping[str, str]) -> dict[str, str]:
        """The fields that an address has, and the query in its `q`. Raises QueryError."""
        names = dict.fromkeys([*self.fields.values(), "text"])
        given = {name: _short(address[name].strip()) for name in names if name in address}
        return {name: value for name, value in given.items() if value} | self.read(
            address.get("q", "")
        )

    def read(self, text: str) -> dict[str, str]:
        """The fields of a query. Raises QueryError."""
        found: dict[str, str] = {}
        pairs: dict[str, dict[str, Any]] = {}
        free: list[str] = []
        for word in WORD.findall(text.replace("\0", "")):
            name, value = self._split(word)
            if name == "text":
                free.append(_plain(value))
            elif name in ("args", "label"):
                _put(pairs.setdefault(name, {}), name, value)
            elif not value:
                raise QueryError(f"Write a value after {word}")
            elif name in found:
                raise QueryError(f"{word.partition(':')[0]}: stands twice in this query.")
            else:
                found[name] = _short(_plain(value))
        found |= {name: json.dumps(pair, ensure_ascii=False) for name, pair in pairs.items()}
        if free:
            found["text"] = _short(" ".join(free))
        if "status" in found:
            names = (STATES.get(one, one) for one in found["status"].lower().split(","))
            found["status"] = ",".join(names)
        return found

    def write(self, given: Mapping[str, str]) -> str:
        """The query that has these fields."""
        return " ".join(term for term, _ in self.terms(given))

    def terms(self, given: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
        """Each word of the query, and the fields that are left without it."""
        words = {name: word for word, name in reversed([*self.fields.items()])}
        for name, value in given.items():
            rest = {other: kept for other, kept in given.items() if other != name}
            if name == "text":
                yield value if _is_free(value) else _quoted(value), rest
            elif name in ("args", "label"):
                yield from _pair_terms(name, value, rest)
            elif name in words:
                yield f"{words[name]}:{_value(value)}", rest

    def _split(self, word: str) -> tuple[str, str]:
        """The field of a word and its value, as it is written."""
        match = FIELD.match(word)
        if match is None:
            return "text", word
        key = match[1]
        mark, value = word[match.end()], word[match.end() + 1 :]
        pairs = {"args": ".", "label": ":"}
        if key in pairs and key in self.fields and mark == pairs[key]:
            return key, value
        if mark == ":" and key in self.fields and key != "args":
            return self.fields[key], value
        if mark == ":" and difflib.get_close_matches(key, WORDS, 1, 0.75):
            near = difflib.get_close_matches(key, self.fields, 1, 0.75)
            meant = "args.NAME=VALUE" if near == ["args"] else f"{near[0]}:" if near else ""
            meant += " or " if meant else ""
            raise QueryError(
                f"There is no {key}: here. Write {meant}{_quoted(word)} to look for the text."
            )
        return "text", word


JOBS = Language({
    "state": "status", "status": "status", "queue": "queue", "task": "task", "run": "run_id",
    "node": "node", "worker": "worker", "host": "host", "project": "project", "key": "key",
    "label": "label", "args": "args", "error": "error", "like": "signature", "since": "since",
    "until": "until",
})  # fmt: skip
RUNS = Language({
    "state": "status", "status": "status", "workflow": "workflow", "project": "project",
    "key": "key", "label": "label", "error": "error", "since": "since", "until": "until",
})  # fmt: skip
WORDS = {*JOBS.fields, *RUNS.fields}


def from_shell(words: Sequence[str]) -> str:
    """The query of these words. From some a shell has taken the quotes: `error:disk full`. One that
    has several fields is a whole query, which was quoted for the shell."""
    return " ".join(
        word
        if '"' in word or not re.search(r"\s", word) or any(map(_has_field, word.split()[1:]))
        else re.sub(
            r"^((?:args\.|label:)\S+?=|[a-z]+:)?(.*)$",
            lambda part: (part[1] or "") + _quoted(part[2]),
            word,
            flags=re.DOTALL,
        )
        for word in words
    )


def _has_field(word: str) -> bool:
    field = FIELD.match(word)
    return field is not None and field[1] in WORDS and len(word) > field.end() + 1


def as_filter(given: Mapping[str, str], now: datetime) -> dict[str, Any]:
    """The filter of find_jobs or find_runs for these fields. Raises QueryError."""
    asked: dict[str, Any] = {}
    for name, value in given.items():
        if name == "status":
            asked[name] = value.split(",")
        elif name == "run_id":
            asked[name] = as_id(value)
            if asked[name] is None:
                raise QueryError(f"{value} is not the id of a run.")
        elif name == "label":
            asked["labels"] = label(value)
        elif name == "args":
            asked[name] = _arguments(value)
        elif name in ("since", "until"):
            asked[name] = since_when(value, now)
        else:
            asked[name] = value
    return asked


def as_id(text: str) -> int | None:
    """The id that a text stands for; None for any other text."""
    is_number = text.isascii() and text.isdigit() and len(text) < 20
    return int(text) if is_number and 0 < int(text) <= MOST_ID else None


def label(text: str) -> dict[str, Any]:
    """Labels from `name=value`, a value of which may be JSON, or from a JSON object."""
    found = _json(text)
    if isinstance(found, dict):
        return found
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise QueryError("A label is written as name=value.")
    return {name.strip(): _typed(value.strip())}


def since_when(text: str, now: datetime) -> str:
    """A time for Postgres: a length of time ago, or what was written. Whole minutes, so that all
    who look in a minute ask the same. Raises QueryError."""
    ago = AGO.fullmatch(text)
    if ago is None:
        return text
    try:
        when = now - timedelta(**{UNITS[ago[2]]: int(ago[1])})
    except OverflowError:
        raise QueryError("That is too long ago.") from None
    return when.replace(second=0, microsecond=0).isoformat()


def in_words(args: Any, most: int = 60) -> str:
    """Arguments as a query has them, cut after `most` letters: `order=7 seconds=0.3`."""
    if not isinstance(args, dict):
        return ""
    text = ""
    for name, value in args.items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        text += f"{' ' if text else ''}{name}={' '.join(shown[: most + 1].split())}"
        if len(text) > most:
            return text[: most - 1].rstrip() + "…"
    return text


def _put(pairs: dict[str, Any], name: str, written: str) -> None:
    """Add `a.b=7` or `team=ops` to an object."""
    if QUOTED.fullmatch(written):
        written = _plain(written)
    whole = _json(written)
    if isinstance(whole, dict):
        pairs |= whole
        return
    key, equals, value = written.partition("=")
    path = key.split(".") if name == "args" else [key]
    if not equals or not all(path):
        example = "args.order=7" if name == "args" else "label:team=ops"
        raise QueryError(f"Write a name and a value: {example}.")
    for one in path[:-1]:
        pairs = pairs.setdefault(one, {})
        if not isinstance(pairs, dict):
            raise QueryError(f"{name}.{one} stands twice in this query.")
    pairs[path[-1]] = _short(_plain(value)) if QUOTED.fullmatch(value) else _typed(value)


def _pair_terms(
    name: str, value: str, rest: dict[str, str]
) -> Iterator[tuple[str, dict[str, str]]]:
    try:
        pairs = label(value) if name == "label" else _arguments(value)
    except QueryError:
        return  # what is wrong with it is said above the list
    if not isinstance(pairs, dict) or not _all_words(pairs):
        yield f"{name}{'.' if name == 'args' else ':'}{_quoted(value)}", rest
        return
    for key in pairs:
        left = {other: kept for other, kept in pairs.items() if other != key}
        without = rest | {name: json.dumps(left, ensure_ascii=False)} if left else rest
        for path, leaf in _leaves(pairs[key], key):
            yield f"{name}{'.' if name == 'args' else ':'}{path}={leaf}", without


def _all_words(pairs: Mapping[str, Any]) -> bool:
    return all(re.fullmatch(r'[^\s"=.]+', key) for key in pairs)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value and _all_words(value):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}")
    elif isinstance(value, str):
        yield path, _quoted(value) if _typed(value) != value else _value(value)
    else:
        yield path, _value(json.dumps(value, ensure_ascii=False))


def _arguments(text: str) -> Any:
    value = _json(text)
    if value is None and text != "null":
        raise QueryError('Write arguments as args.order=7, or as JSON: {"order": 7}.')
    return value


def _typed(text: str) -> Any:
    """The value that a text of JSON stands for; else the text."""
    value = _json(text)
    return text if value is None and text != "null" else value


def _json(text: str) -> Any:
    """A value of JSON that Postgres can store; None if it is none."""
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return value


def _short(text: str) -> str:
    """The text, unless it is longer than any value is searched for. Raises QueryError."""
    if len(text) > LONGEST:
        raise QueryError(f"A value is longer than {LONGEST} letters: search for a part of it.")
    return text


def _plain(written: str) -> str:
    """A value without its quotes."""
    return QUOTED.sub(lambda quoted: re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL), written)


def _value(text: str) -> str:
    return text if text and not re.search(r'[\s"]', text) else _quoted(text)


def _is_free(text: str) -> bool:
    return bool(text) and '"' not in text and ":" not in text and "args." not in text


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
