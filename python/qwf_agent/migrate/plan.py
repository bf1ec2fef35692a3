"""sqitch's plan: the changes in order, and the scripts of each."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from qwf_agent.migrate import derived

PROJECT = "qwf"
SOURCES = "sources.plan"  # beside the plan, from the first release on
RELEASES = "releases/"  # how the changes that are releases begin


class MigrateError(Exception):
    """A migration cannot be done or went wrong. The message says what to do."""


@dataclass(frozen=True)
class Script:
    """One script of a change: the file at `path`, or what `derived` makes of others or of it."""

    path: Path
    derived: Callable[[], str] | None = None

    def read(self) -> str:
        """Its text. Raises MigrateError."""
        return self._text

    @cached_property
    def _text(self) -> str:
        if self.derived is not None and (text := self.derived()):
            return text
        return self.source()

    def source(self) -> str:
        """The text of the file. Raises MigrateError."""
        try:
            return self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise MigrateError(f"cannot read {self.path}: {error}") from None

    def hash(self) -> str:
        """The SHA-1 of its text, as sqitch keeps it. Raises MigrateError."""
        return hashlib.sha1(self.read().encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class Change:
    """One line of the plan, with the scripts that belong to it."""

    name: str
    id: str
    note: str
    tags: tuple[str, ...]
    reworked: bool
    deploy: Script
    revert: Script
    verify: Script


@dataclass(frozen=True)
class Plan:
    """A sqitch plan: its changes in order."""

    path: Path
    project: str
    changes: tuple[Change, ...]

    @cached_property
    def registry(self) -> str:
        """Schema of yoyo's tables: one for each project, beside the project's own schema."""
        return f"{self.project}_migrations"

    @cached_property
    def sources(self) -> Plan:
        """The sources in order: this plan itself; once it lists releases, the one beside it."""
        file = self.path.with_name(SOURCES)
        is_beside = self.project == PROJECT and file != self.path and file.is_file()
        return read_plan(file) if is_beside else self

    @cached_property
    def digest(self) -> str:
        """The SHA-1 of all scripts as they are in their files."""
        return digest(change.deploy.source() for change in self.changes)

    @cached_property
    def is_package(self) -> bool:
        """It is in a package that has releases, whose sources are those of the newest."""
        here = Path(__file__).resolve().parents[1]
        return self.sources is not self and self.path.resolve().parents[1] == here

    def until(self, target: str | None) -> int:
        """The number of changes up to `target`, which is a change, change@tag, @tag or id."""
        if target is None:
            return len(self.changes)
        name, _, tag = target.partition("@")
        end = len(self.changes)
        if tag:
            end = next((n for n, c in enumerate(self.changes, 1) if tag in c.tags), 0)
        if name:
            end = next(
                (
                    n
                    for n in range(end, 0, -1)
                    if name in (self.changes[n - 1].name, self.changes[n - 1].id)
                ),
                0,
            )
        if not end:
            tags = [f"@{tag}" for change in self.changes for tag in change.tags]
            names = [change.name for change in self.changes]
            meant = difflib.get_close_matches(target, [*names, *tags], 1)
            raise MigrateError(
                f"the plan has no {target}: "
                + (f"did you mean {meant[0]}?" if meant else "qwf migrate status lists its changes")
            )
        return end


def digest(texts: Iterable[str]) -> str:
    """The SHA-1 of sources, by which a release knows them."""
    return hashlib.sha1("\n".join(texts).encode(), usedforsecurity=False).hexdigest()


def without_transactions(texts: Iterable[str]) -> list[str]:
    """Scripts that begin and end no transaction of their own, to run in one."""
    return [_TRANSACTION.sub("", text) for text in texts]


_TRANSACTION = re.compile(r"^(?:begin|commit|rollback);\n\n?", re.MULTILINE)


def plan_path() -> Path:
    """The plan of this installation: in the package of a wheel, at the root of a checkout."""
    here = Path(__file__).resolve()
    for folder in (here.parents[1] / "sql", here.parents[3] / "sql"):
        if (folder / "sqitch.plan").is_file():
            return folder / "sqitch.plan"
    raise MigrateError("this installation has no sql/sqitch.plan: install qwf again")


def read_plan(path: Path | str | None = None) -> Plan:
    """Read a sqitch plan; that of this installation if `path` is None, which a process parses once
    for each text.

    Raises MigrateError with the wrong line.
    """
    file = Path(path) if path is not None else plan_path()
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MigrateError(f"cannot read the plan {file}: {error}") from None
    return _parsed(file, text) if path is not None else _own(file, text)


def _parsed(file: Path, text: str) -> Plan:
    """The plan of this text, with the scripts beside it."""
    lines = text.splitlines()
    pragmas: dict[str, str] = {}
    parsed: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        if match := _PRAGMA.match(line):
            pragmas[match["name"]] = match["value"] or ""
        elif match := _TAG.match(line):
            if not parsed:
                raise MigrateError(f"{file}:{number}: a tag without a change before it")
            parsed[-1]["tags"] += (match["tag"],)
        elif match := _CHANGE.match(line):
            parsed.append({**match.groupdict(), "tags": ()})
        elif line.split("#")[0].strip():
            raise MigrateError(f"{file}:{number}: not a line of a sqitch plan: {line.strip()}")
    if not pragmas.get("project"):
        raise MigrateError(f"{file}: no %project")
    return Plan(file, pragmas["project"], _changes(file, pragmas, parsed))


_own = lru_cache(maxsize=1)(_parsed)


_PRAGMA = re.compile(r"\s*%\s*(?P<name>[\w-]+)\s*(?:=\s*(?P<value>.+?))?\s*$")
_TAG = re.compile(r"\s*@(?P<tag>[^\s#]+)(?:\s[^#]*)?(?:#.*)?$")
_CHANGE = re.compile(
    r"\s*(?P<name>[^\s@#%\[\]][^\s@#\[\]:]*)"
    r"(?:\s+\[(?P<dependencies>[^\]]*)\])?"
    r"\s+(?P<date>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"
    r"\s+(?P<planner>[^<#]*?)\s+<(?P<email>[^>]+)>"
    r"\s*(?:#(?P<note>.*))?$"
)


def _changes(
    file: Path, pragmas: dict[str, str], parsed: list[dict[str, Any]]
) -> tuple[Change, ...]:
    changes: list[Change] = []
    earlier: set[str] = set()
    places: dict[str, list[int]] = {}
    for index, line in enumerate(parsed):
        places.setdefault(line["name"], []).append(index)
    for index, line in enumerate(parsed):
        name = line["name"]
        later = next((n for n in places[name] if n > index), None)
        # A reworked change keeps its scripts under the first tag after it that has them.
        tags = (
            [tag for entry in parsed[index:later] for tag in entry["tags"]]
            if later is not None
            else []
        )
        if later is not None and not tags:
            raise MigrateError(f"{file}: {name} appears twice without a tag between")
        note = re.sub(
            r"\\([\\nr])",
            lambda m: {"n": "\n", "r": "\r"}.get(m[1], m[1]),
            (line["note"] or "").strip(),
        )
        deploy = _framed(_script(file, "deploy", name, tags), pragmas["project"], name)
        revert, verify = (
            _derived(_script(file, kind, name, tags), kind, deploy, pragmas["project"], name)
            for kind in ("revert", "verify")
        )
        parent = changes[-1].id if changes else None
        _check_requires(file, line, earlier)
        earlier.add(name)
        change_id = _change_id(pragmas, line, note, parent)
        changes.append(
            Change(name, change_id, note, line["tags"], later is not None, deploy, revert, verify)
        )
    return tuple(changes)


def _check_requires(file: Path, line: dict[str, Any], earlier: set[str]) -> None:
    """Raise MigrateError unless the changes it requires of its own project come before it."""
    for dependency in (line["dependencies"] or "").split():
        name = dependency.partition("@")[0]
        if name and name not in earlier and not re.match(r"!|[^@]*:|[0-9a-f]{40}$", dependency):
            raise MigrateError(f"{file}: {line['name']} requires {name}, which is not before it")


def _change_id(pragmas: dict[str, str], line: dict[str, Any], note: str, parent: str | None) -> str:
    """sqitch's id of a change: SHA-1 of its plan line and its parent, as git hashes an object."""
    named = list(dict.fromkeys((line["dependencies"] or "").split()))
    named = [d.removeprefix(f"{pragmas['project']}:") for d in named]
    requires = [d for d in named if not d.startswith("!")]
    conflicts = [d[1:] for d in named if d.startswith("!")]
    info = [f"project {pragmas['project']}"]
    info += [f"uri {pragmas['uri']}"] if pragmas.get("uri") else []
    info += [f"change {line['name']}"]
    info += [f"parent {parent}"] if parent else []
    info += [f"planner {line['planner']} <{line['email']}>", f"date {line['date']}"]
    info += ["requires", *(f"  + {d}" for d in requires)] if requires else []
    info += ["conflicts", *(f"  - {d}" for d in conflicts)] if conflicts else []
    info += ["", note] if note else []
    text = "\n".join(info)
    return hashlib.sha1(
        f"change {len(text.encode())}\0{text}".encode(), usedforsecurity=False
    ).hexdigest()


def _script(plan: Path, kind: str, name: str, tags: list[str]) -> Script:
    """A script of a change. Deploy scripts are beside the plan, or in deploy/, sqitch's default."""
    base = plan.parent
    if tags:
        places = [base / "reworked" / kind / f"{name}@{tag}.sql" for tag in tags]
        return Script(next((path for path in places if path.is_file()), places[0]))
    if kind == "deploy" and not (base / "deploy").is_dir():
        return Script(base / f"{name}.sql")
    return Script(base / kind / f"{name}.sql")


def _framed(script: Script, project: str, name: str) -> Script:
    """The script of a source: for the engine, with the transaction that it has not written."""
    if project != PROJECT:
        return script
    return Script(script.path, lambda: derived.deploy(f"{project}:{name}", script.source()))


def _derived(script: Script, kind: str, deploy: Script, project: str, name: str) -> Script:
    """The script itself if its file is there; else, for the engine, one that follows from the
    deploy script. Not from that of a release: it replaces what a revert must not drop."""
    if project != PROJECT or script.path.is_file() or name.startswith(RELEASES):
        return script
    derive = derived.revert if kind == "revert" else derived.verify
    return Script(script.path, lambda: derive(f"{project}:{name}", deploy.read()))
