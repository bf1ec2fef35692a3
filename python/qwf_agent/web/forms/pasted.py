"""Reads definitions that a person pasted: JSON or YAML, one or several."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from qwf_agent.look import yaml_files
from qwf_agent.look.draw.visible import visible
from qwf_agent.look.yaml_files import KINDS
from qwf_agent.web.forms import exact_json
from qwf_agent.web.forms.wording import member_path

MOST_JSON = 1_000_000  # characters
MOST_YAML = 300_000  # YAML is read at about 100,000 characters a second
MOST_DEFINITIONS = 20
LONGEST_PATH = 300  # whose line is known; what is deeper is on the line of what it is in
BETWEEN = re.compile(r"^---(?=\s|$)", re.MULTILINE)  # no JSON or YAML text holds such a line
PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
LAST_STEP = re.compile(r"""(?:^|\.)[^.\[\]"]+$|\[[0-9]+\]$|\["(?:[^"\\]|\\.)*"\]$""")


@dataclass(frozen=True)
class Pasted:
    """One definition. `source` is where it was read: its part of the text, with the lines of the
    whole text, and the path of the definition in that part."""

    kind: str  # pipeline or workflow
    content: dict[str, Any]
    written: str  # as JSON, exactly
    source: tuple[str, str]

    @property
    def name(self) -> str | None:
        """Its name, if it has one that is a text."""
        name = self.content.get("name")
        return name if isinstance(name, str) else None


def read(text: str) -> tuple[list[Pasted], list[str]]:
    """The definitions in a text, pipelines first, and what is wrong with the text."""
    for number, line in enumerate(text.split("\n"), start=1):
        if visible(line) != line:  # it would be another text when the form is sent again
            unseen = next(one for one in line if visible(one) != one)
            return [], [f"line {number}: write {unseen!a} as an escape, for nobody can see it"]
    found: list[Pasted] = []
    problems: list[str] = []
    for part in _parts(text):
        try:
            for one, path in _values(part):
                found.append(_definition(one, part, path))
                if len(found) > MOST_DEFINITIONS:
                    return [], [f"it holds more than {MOST_DEFINITIONS} definitions"]
        except (ValueError, yaml.YAMLError) as error:
            problems.append(str(error))
        if len(problems) == MOST_DEFINITIONS:
            break
    named = [(one.kind, one.name) for one in found if one.name is not None]
    twice = [one for place, one in enumerate(named) if one in named[:place]]
    problems += [f"{kind} {name} is there twice" for kind, name in dict.fromkeys(twice)]
    return sorted(found, key=lambda one: one.kind), problems


def line_of(pasted: Pasted, path: str, known: Mapping[str, int]) -> int | None:
    """The line that a path of the definition leads to, or as far as it leads; None if no line is
    known."""
    top = pasted.source[1]
    while path and _joined(top, path) not in known:
        path = LAST_STEP.sub("", path) if LAST_STEP.search(path) else ""
    return known.get(_joined(top, path))


def lines(pasted: Pasted) -> dict[str, int]:
    """The line, from 1, of each value of the text that the definition was read from, by path; none
    of a very long text."""
    part, _ = pasted.source
    if len(part) > MOST_YAML:
        return {}
    if _is_json(part):
        return _first(_lines_of_json(part))
    node = yaml.compose(part, Loader=yaml.SafeLoader)
    return {} if node is None else _first(_lines_of_yaml(node, ""))


def _parts(text: str) -> Iterator[str]:
    """The documents of the text, each with empty lines for those before it."""
    begins = 0
    for end in [*(found.start() for found in BETWEEN.finditer(text)), len(text)]:
        part = BETWEEN.sub("   ", text[begins:end], count=1)
        if part.strip():
            yield "\n" * text.count("\n", 0, begins) + part
        begins = end


def _is_json(part: str) -> bool:
    return part.lstrip()[:1] in ("{", "[")


def _values(part: str) -> Iterator[tuple[Any, str]]:
    """The values in a document, each with its path; those of a list are definitions themselves."""
    if len(part) > (MOST_JSON if _is_json(part) else MOST_YAML):
        most = f"{MOST_JSON:,} as JSON or {MOST_YAML:,} as YAML"
        raise ValueError(f"it has {len(part):,} characters: at most {most}")
    for value, path in _json_values(part) if _is_json(part) else [(yaml_files.load(part), "")]:
        if isinstance(value, list):
            yield from ((one, f"{path}[{place}]") for place, one in enumerate(value))
        else:
            yield value, path


def _json_values(part: str) -> Iterator[tuple[Any, str]]:
    """The JSON values that stand one after the other, each with its path."""
    decoder, at, count = json.JSONDecoder(), 0, 0
    while part[at:].strip():
        at += len(part[at:]) - len(part[at:].lstrip())
        try:
            _, end = decoder.raw_decode(part, at)
        except (ValueError, RecursionError):
            end = len(part)
        before = part[:at].rpartition("\n")[2]
        blank = "\n" * part.count("\n", 0, at) + " " * len(before)
        yield exact_json.read(blank + part[at:end]), f"({count})"
        at, count = end, count + 1


def _definition(value: Any, part: str, path: str) -> Pasted:
    kinds = [kind for key, kind in KINDS.items() if isinstance(value, dict) and key in value]
    if len(kinds) != 1:
        line = 1 + len(part) - len(part.lstrip("\n"))
        raise ValueError(
            f"line {line} or below: neither a pipeline (an object with `nodes`)"
            " nor a workflow (an object with `steps`)"
        )
    return Pasted(kinds[0], value, exact_json.write(value), (part, path))


def _joined(top: str, path: str) -> str:
    return top + path if not top or not path or path.startswith("[") else f"{top}.{path}"


def _first(found: Iterator[tuple[str, int]]) -> dict[str, int]:
    """The first line of each path."""
    known: dict[str, int] = {}
    for path, line in found:
        known.setdefault(path, line)
    return known


def _lines_of_json(part: str) -> Iterator[tuple[str, int]]:
    """The line of each value. The text has been read as JSON, so it is JSON."""
    around: list[tuple[str, str | int | None]] = []  # path, and key or place of what comes next
    line, at, count = 1, 0, 0
    for found in PIECE.finditer(part):
        line, at = line + part.count("\n", at, found.start()), found.start()
        piece = found[0]
        if piece in ("}", "]"):
            around.pop()
        elif piece == ",":
            path, place = around[-1]
            around[-1] = (path, place + 1 if isinstance(place, int) else None)
        elif piece == ":":
            continue
        elif around and around[-1][1] is None:
            around[-1] = (around[-1][0], str(json.loads(piece)))
        else:
            path = _inside(*around[-1]) if around else f"({count})"
            count += not around
            yield path, line
            if piece in ("{", "["):
                around.append((path, None if piece == "{" else 0))


def _inside(path: str, step: str | int | None) -> str:
    if len(path) > LONGEST_PATH:
        return path
    inside = f"{path}[{step}]" if isinstance(step, int) else member_path(path, str(step))
    return inside.removeprefix(".")


def _lines_of_yaml(node: yaml.Node, path: str) -> Iterator[tuple[str, int]]:
    yield path, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inside = _inside(path, str(key.value))
            yield inside, key.start_mark.line + 1
            yield from _lines_of_yaml(value, inside)
    elif isinstance(node, yaml.SequenceNode):
        for place, value in enumerate(node.value):
            yield from _lines_of_yaml(value, _inside(path, place))
