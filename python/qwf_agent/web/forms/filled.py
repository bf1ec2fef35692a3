"""An entry of a person in a form: its value, its problems, and the form to show again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from qwf_agent.look.draw.visible import visible
from qwf_agent.look.draw.words import cut
from qwf_agent.web.forms import exact_json
from qwf_agent.web.forms.choices import MISSING, File, stands_for
from qwf_agent.web.forms.fields import (
    ELEMENTS,
    MAX_ELEMENTS,
    OTHER,
    REST,
    Field,
    from_question,
    from_schema,
)
from qwf_agent.web.forms.wording import member_path

__all__ = [
    "Field",
    "File",
    "Filled",
    "Problem",
    "edited",
    "entries",
    "from_question",
    "from_schema",
    "parse",
    "refused",
    "stands_for",
    "with_problems",
]

Entries = Mapping[str, Sequence[str]]  # what a browser sends: each name with its values

ADD, REMOVE = "*add", "*remove"  # names of buttons
MAX_TEXT = 1_000_000  # characters of one entry
LONGEST_PROBLEM = 1000
# A line of DETAIL: `value.boxes[0]["a.b"]: must be at least 0`.
INDEX = re.compile(r"\[[0-9]+\]")
STEP = re.compile(r"""\.[^\].:"\[\\]+|\[[0-9]+\]|\["(?:[^"\\]|\\.)*"\]""")
PROBLEM = re.compile(rf"(\w+)((?:{STEP.pattern})*): (.*)", re.DOTALL)
CONTEXT_LACKS = re.compile(r".*: the context has no (.*)", re.DOTALL)
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class Problem:
    """A problem of a value, at the path of its field."""

    path: str
    text: str


@dataclass(frozen=True)
class Filled:
    """An entry of a person: the value, its problems, and the form to show again."""

    value: Any
    problems: tuple[Problem, ...]
    field: Field


def entries(items: Iterable[tuple[str, Any]]) -> dict[str, list[str]]:
    """The texts of a sent form: of `form.multi_items()`. Uploads are left out."""
    found: dict[str, list[str]] = {}
    for name, value in items:
        if isinstance(value, str):
            found.setdefault(name, []).append(value.replace("\r\n", "\n"))
    return found


# Reading what was entered ------------------------------------------------------------------------


def parse(field: Field, given: Entries) -> Filled:
    """The value that a person entered. Nothing that was sent is dropped without a word."""
    reader = _Reader(given)
    read = reader.read(field)
    problems, value = list(read.problems), read.value
    if value is MISSING:
        value = {} if field.kind == "group" else None
        if not problems and field.kind != "group":
            problems.append(Problem(field.path, "is missing"))
    unread = [
        name for name in given if name.startswith(f"{field.name}/") and name not in reader.used
    ]
    if unread:
        lost = ", ".join(visible(cut(name, 100)) for name in unread[:3])
        problems.append(
            Problem(field.path, f"the form has changed since it was opened: nothing reads {lost}")
        )
    try:
        exact_json.write(value)
    except ValueError as error:
        problems.append(Problem(field.path, str(error)))
    return Filled(value, tuple(problems), with_problems(read.field, problems))


def edited(field: Field, given: Entries) -> Field | None:
    """The form with one list element more or less, if a button for that was pressed, else None."""
    added, removed = (next(iter(given.get(button, [])), None) for button in (ADD, REMOVE))
    if added is None and removed is None:
        return None
    changed = {name: list(values) for name, values in given.items()}
    if added is not None:
        places = changed.setdefault(f"{added}{ELEMENTS}", [])
        taken = [int(place) for place in places if re.fullmatch("[0-9]{1,6}", place)]
        places.append(str(max(taken, default=-1) + 1))
    if removed is not None:
        around, _, place = removed.rpartition("/")
        kept = [one for one in changed.get(f"{around}{ELEMENTS}", []) if one != place]
        changed[f"{around}{ELEMENTS}"] = kept
    return with_problems(parse(field, changed).field, [])


@dataclass(frozen=True)
class _Read:
    value: Any
    problems: tuple[Problem, ...]
    field: Field


class _Reader:
    """Reads a sent form and remembers which of its names it has read."""

    def __init__(self, given: Entries) -> None:
        self._given = given
        self.used: set[str] = set()

    def read(self, field: Field) -> _Read:
        """The entries of a field and of those below it."""
        if field.kind == "group":
            return self._group(field)
        if field.kind == "list":
            return self._list(field)
        if field.kind in ("choice", "choices", "confirm"):
            return self._chosen(field)
        if field.kind in ("file", "files"):
            return self._files(field)
        return self._entered(field)

    def _values(self, name: str) -> Sequence[str]:
        self.used.add(name)
        return self._given.get(name, ())

    def _entered(self, field: Field) -> _Read:
        sent = self._values(field.name)
        text = sent[-1] if sent else ""
        filled = replace(field, entered=text)
        if len(text) > MAX_TEXT:
            why = f"has {len(text)} characters, at most {MAX_TEXT}"
            return _problem(field, why, filled)
        if exact_json.UNSTORABLE.search(text):
            return _problem(field, "has a character that cannot be stored", filled)
        blank = text == "" if field.kind == "text" else not text.strip()
        if blank:
            return _blank(field, filled, sent=bool(sent))
        if field.kind == "text":
            return _Read(text, (), filled)
        try:
            value = _as_number(text) if field.kind == "number" else exact_json.read(text)
            exact_json.write(value)
        except ValueError as error:
            return _problem(field, str(error), filled)
        return _Read(value, (), filled)

    def _chosen(self, field: Field) -> _Read:
        keys = [key for key in self._values(field.name) if key]
        known = {option.key: option.value for option in field.options}
        filled = replace(field, chosen=frozenset(keys) & known.keys())
        if set(keys) - known.keys():
            return _problem(field, "is no longer one of the options: choose again", filled)
        values = [known[key] for key in dict.fromkeys(keys)]
        if field.kind == "choices":
            return _Read(values, (), filled)
        if len(values) > 1:
            return _problem(field, "is chosen twice: choose one", filled)
        if values:
            return _Read(values[0], (), filled)
        return _problem(field, "choose one", filled) if field.required else _missing(filled)

    def _files(self, field: Field) -> _Read:
        picked = [path for path in self._values(field.name) if path]
        sent = self._values(f"{field.name}{OTHER}")
        other = sent[-1] if sent else ""
        typed = [line.strip() for line in other.split("\n") if line.strip()]
        known = {option.key for option in field.options}
        filled = replace(field, chosen=frozenset(picked) & known, entered=other)
        values = list(dict.fromkeys([*picked, *typed]))
        if any(exact_json.UNSTORABLE.search(path) for path in values):
            return _problem(field, "has a character that cannot be stored", filled)
        if field.kind == "files":
            return _Read(values, (), filled)
        if len(values) > 1:
            return _problem(field, "is one file: pick one, or write one other path", filled)
        return _Read(values[0], (), filled) if values else _problem(field, "is missing", filled)

    def _group(self, field: Field) -> _Read:
        reads = [self.read(member) for member in field.fields]
        filled = replace(field, fields=tuple(read.field for read in reads))
        if not field.required and not field.given and self._is_untouched(field):
            return _missing(filled)
        problems = [problem for read in reads for problem in read.problems]
        value: dict[str, Any] = {}
        for member, read in zip(field.fields, reads, strict=True):
            if read.value is MISSING:
                continue
            if not member.name.endswith(REST):
                value[member.key] = read.value
            elif not isinstance(read.value, dict):
                problems.append(Problem(member.path, "must be a JSON object"))
            elif twice := set(read.value) & {one.key for one in field.fields[:-1]}:
                problems.append(Problem(member.path, f"{sorted(twice)[0]!r} has its own field"))
            else:
                value |= read.value
        return _Read(value, tuple(problems), filled)

    def _list(self, field: Field) -> _Read:
        assert field.item is not None  # noqa: S101 - a list always has one
        places = list(dict.fromkeys(self._values(f"{field.name}{ELEMENTS}")))
        if any(not re.fullmatch("[0-9]{1,6}", place) for place in places):
            return _problem(field, "the form is damaged: load the page again", field)
        reads = []
        for number, place in enumerate(places):
            sent_as = _moved(
                field.item, field.item, f"{field.name}/{place}", f"{field.path}[{number}]"
            )
            read = self.read(sent_as)
            renamed = _moved(read.field, sent_as, f"{field.name}/{number}", sent_as.path)
            reads.append(replace(read, field=renamed))
        filled = replace(field, elements=tuple(read.field for read in reads))
        if not reads and not field.required and not field.given:
            return _missing(filled)
        problems = [problem for read in reads for problem in read.problems]
        if len(reads) > MAX_ELEMENTS:
            why = f"has {len(reads)} elements, at most {MAX_ELEMENTS}"
            problems.append(Problem(field.path, why))
        values = [None if read.value is MISSING else read.value for read in reads]
        return _Read(values, tuple(problems), filled)

    def _is_untouched(self, field: Field) -> bool:
        return all(
            list(self._given.get(name, [])) == was for name, was in _untouched(field).items()
        )


def _untouched(field: Field) -> dict[str, list[str]]:
    """The entry that a browser sends for the field if nobody changes anything."""
    if field.kind == "group":
        return {name: was for member in field.fields for name, was in _untouched(member).items()}
    if field.kind == "list":
        places = [str(place) for place in range(len(field.elements))]
        below = {name: was for one in field.elements for name, was in _untouched(one).items()}
        return {f"{field.name}{ELEMENTS}": places, **below}
    if field.kind in ("choice", "choices"):
        chosen = [option.key for option in field.options if option.key in field.chosen]
        return {field.name: chosen or ([""] if field.has_blank else [])}
    return {field.name: [field.entered]}


def _blank(field: Field, filled: Field, *, sent: bool) -> _Read:
    """The meaning of an empty entry: no value, null, the empty text, or a problem."""
    if field.nullable and (field.required or field.given):
        return _Read(None, (), filled)
    if field.kind == "text" and sent and (field.required or field.given):
        return _Read("", (), filled)
    return _problem(field, "is missing", filled) if field.required else _missing(filled)


def _missing(filled: Field) -> _Read:
    return _Read(MISSING, (), filled)


def _problem(field: Field, text: str, filled: Field) -> _Read:
    return _Read(MISSING, (Problem(field.path, text),), filled)


def _as_number(text: str) -> int | Decimal:
    text = text.strip()
    if not NUMBER.fullmatch(text):
        if NUMBER.fullmatch(text.replace(",", ".", 1)):
            raise ValueError("is not a number: write a point, not a comma")
        raise ValueError("is not a number")
    return exact_json.number(text)


# Problems at their fields -------------------------------------------------------------------------


def refused(field: Field, detail: str | None) -> Field:
    """The form with the problems of a refusal (QW005) at their fields.

    DETAIL has a line for each problem, `path: problem`. What belongs to no field is put above the
    whole form.
    """
    known, lines = _paths(field), (detail or "").split("\n")
    return with_problems(field, [_placed(line, field, known) for line in lines])


def with_problems(field: Field, problems: Iterable[Problem]) -> Field:
    """The form with these problems at their fields, and no others."""
    known = _paths(field)
    by_path: dict[str, list[str]] = {}
    for problem in problems:
        at = problem.path if problem.path in known else field.path
        if problem.text:
            by_path.setdefault(at, []).append(visible(cut(problem.text, LONGEST_PROBLEM)))
    return _marked(field, by_path)


def _placed(line: str, field: Field, known: set[str]) -> Problem:
    """The problem that one line names, at the innermost field that it is about."""
    if found := CONTEXT_LACKS.fullmatch(line):
        path = "".join([field.path, *(f".{key}" for key in found[1].split("."))])
        return Problem(path if path in known else field.path, line)
    found = PROBLEM.fullmatch(line)
    if found is None or found[1] != field.path:
        return Problem(field.path, line)
    path, rest = field.path, found[2]
    for step in STEP.findall(found[2]):
        deeper = path + step if INDEX.fullmatch(step) else member_path(path, _key_of(step))
        if deeper not in known:
            break
        path, rest = deeper, rest[len(step) :]
    return Problem(path, f"{rest.removeprefix('.')}: {found[3]}" if rest else found[3])


def _key_of(step: str) -> str:
    """The name of a member, from its part of a path: `.name` or `["name"]`."""
    try:
        return step[1:] if step.startswith(".") else str(json.loads(step[1:-1]))
    except ValueError:  # not written by the database
        return step


def _paths(field: Field) -> set[str]:
    return {field.path}.union(*(_paths(one) for one in (*field.fields, *field.elements)))


def _marked(field: Field, problems: Mapping[str, list[str]]) -> Field:
    return replace(
        field,
        problems=tuple(problems.get(field.path, ())),
        fields=tuple(_marked(one, problems) for one in field.fields),
        elements=tuple(_marked(one, problems) for one in field.elements),
    )


def _moved(field: Field, top: Field, name: str, path: str) -> Field:
    """The field and those below it, with `name` and `path` in place of those of `top`."""
    return replace(
        field,
        name=name + field.name[len(top.name) :],
        path=path + field.path[len(top.path) :],
        fields=tuple(_moved(one, top, name, path) for one in field.fields),
        elements=tuple(_moved(one, top, name, path) for one in field.elements),
        item=field.item and _moved(field.item, top, name, path),
    )
