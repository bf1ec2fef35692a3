"""Reads pipelines, workflows, limits, schedules and alerts from files, and registers them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import yaml
from psycopg import sql
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from qwf_agent.cli import property_order
from qwf_agent.look import hints, strict_json, yaml_files

if TYPE_CHECKING:
    from typing_extensions import LiteralString

SUFFIXES = {".json", ".yaml", ".yml"}
SCHEMA_SUFFIX = ".schema.json"
NAMED_BY_FILE = ("schedule", "alert")  # kinds of NAME.schedule.json, NAME.alert.yaml and so on
MOST_BYTES = 64 << 20  # the largest max_value_bytes
MOST_YAML_BYTES = 1 << 20  # read at about 100,000 a second
LIMIT_KEYS = ("name", "max_running", "starts", "per", "keyed")
NUL = re.compile(r"(?<!\\)(\\\\)*\\u0000")

LIMIT = "select max_running, starts, per, keyed from qwf.limit_overview where name = %s"
CREATE_LIMIT = """
select qwf.create_limit(l.name, l.max_running, l.starts, l.per, l.keyed)
from jsonb_to_record(%s) l (
  name text, max_running int, starts int, per interval, keyed boolean)
"""
SCHEDULE = """
select task, workflow, cron, minute, hours, every, timezone, args, queue, catch_up, overlap,
  enabled, priority, project, options, expect
from qwf.schedule_overview where name = %s
"""
SCHEDULE_KEYS = {
    *("task", "workflow", "cron", "minute", "hours", "every", "anchor", "timezone", "args"),
    *("queue", "catch_up", "overlap", "enabled", "priority", "project", "options", "expect"),
}
CREATE_SCHEDULE = """
select qwf.create_schedule(%s, s.task, s.workflow, s.cron, s.minute, s.hours, s.every, s.anchor,
  coalesce(s.timezone, 'UTC'), coalesce(s.args, '{}'), coalesce(s.queue, 'default'),
  coalesce(s.catch_up, 'one'), coalesce(s.overlap, 'skip'), s.enabled, s.priority, s.project,
  s.options, s.expect)
from jsonb_to_record(%s) s (
  task text, workflow text, cron text, minute int, hours int[], every interval,
  anchor timestamptz, timezone text, args jsonb, queue text, catch_up text, overlap text,
  enabled boolean, priority int, project text, options jsonb, expect jsonb)
"""


class DefinitionError(Exception):
    """Some definitions are wrong; nothing was registered.

    `lines` has one text for each problem, file by file. What to do about those of a file, as far as
    that is known, follows them.
    """

    def __init__(self, found: Iterable[FileProblems]) -> None:
        files = sorted(found, key=lambda one: one.path)
        count = sum(len(one.problems) for one in files)
        super().__init__(f"{count} problem{'s' * (count != 1)}, nothing registered")
        self.lines = [line for one in files for line in one.lines()]


@dataclass(frozen=True)
class FileProblems:
    """A problem of one file, and its remedy."""

    path: Path
    problems: Sequence[str]
    hints: Sequence[str] = ()

    def lines(self) -> list[str]:
        """The problems with the name of the file, then the hints."""
        advice = [f"  hint: {hint}" for hint in dict.fromkeys(self.hints)]
        return [f"{self.path}: {problem}" for problem in self.problems] + advice


@dataclass(frozen=True)
class DefinitionFile:
    """One definition as written in its file; kind is limit, pipeline, workflow, schedule or
    alert."""

    path: Path
    kind: str
    content: dict[str, Any]

    @property
    def name(self) -> str:
        """Its name, if it has one; the database checks it."""
        if self.kind in NAMED_BY_FILE:
            return self.path.stem.removesuffix(f".{self.kind}")
        return str(self.content.get("name"))


@dataclass(frozen=True)
class Registered:
    """One registered definition: new, unchanged, or restored (an older version is current). A limit
    and a schedule have no version; they are new, unchanged or changed."""

    kind: str
    name: str
    version: int | None
    change: str
    path: Path


def schema() -> str:
    """The JSON Schema of definitions: in the package of a wheel, below the root of a checkout."""
    here = Path(__file__).resolve()
    name = "sql/definition.schema.json"
    inside = here.parents[1] / name
    found = inside if inside.is_file() else here.parents[3] / name
    return found.read_text(encoding="utf-8")


def load(
    folder: Path, skip: Callable[[Path, str], None] = lambda path, why: None
) -> list[DefinitionFile]:
    """All definitions in a folder and its subfolders (or in one file), in an order in which they
    can be registered. The JSON Schema of definitions may lie among them.

    `skip` is called with what is left out, and why. Raises DefinitionError naming every file that
    is not a definition, or if there is no file.
    """
    paths = _files(folder, skip) if folder.is_dir() else [folder]
    found: list[DefinitionFile] = []
    problems: list[FileProblems] = []
    for path in paths:
        try:
            found += _read(path)
        except (OSError, ValueError, yaml.YAMLError) as error:
            if path.name.endswith(SCHEMA_SUFFIX) and path != folder:
                skip(path, f"its name says that it is a JSON Schema, and it is {error}")
            else:
                problems.append(FileProblems(path, [str(error)]))
    for index, one in enumerate(found):
        twin = next(
            (other for other in found[:index] if (other.kind, other.name) == (one.kind, one.name)),
            None,
        )
        if twin:
            problem = f"{one.kind} {one.name} is also in {twin.path}"
            problems.append(FileProblems(one.path, [problem]))
    if not found and not problems:
        problems.append(FileProblems(folder, ["no .json, .yaml or .yml file with a definition"]))
    if problems:
        raise DefinitionError(problems)
    return _in_order(found)


def _in_order(found: list[DefinitionFile]) -> list[DefinitionFile]:
    """Limits and pipelines first, each workflow after those that its steps and the nodes of its
    pipelines run, then schedules, alerts last."""
    last = {kind: place for place, kind in enumerate(NAMED_BY_FILE, 1)}
    waiting = sorted(found, key=lambda one: (last.get(one.kind, 0), one.kind))
    ordered: list[DefinitionFile] = []
    while waiting:
        left = {one.name for one in waiting if one.kind == "workflow"}
        ready = [one for one in waiting if not left & _runs(one, found)] or waiting
        ordered += ready
        waiting = [one for one in waiting if one not in ready]
    return ordered


def _files(folder: Path, skip: Callable[[Path, str], None]) -> list[Path]:
    """The JSON and YAML files in a folder and its subfolders, except hidden ones."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if path.name[0] == ".":
                continue  # of a tool, such as .git
            if path.is_symlink():
                skip(path, "it is a link to a folder")
            else:
                found += _files(path, skip)
        elif path.suffix in SUFFIXES:
            if path.name[0] == ".":
                skip(path, "it is hidden")
            else:
                found.append(path)
    return found


def register(
    conn: psycopg.Connection[DictRow], definitions: list[DefinitionFile]
) -> list[Registered]:
    """Register all of them in one transaction, or none. If nothing changes, nothing is committed.

    Raises DefinitionError with the problems of every file. A workflow is checked only if what
    its steps run is valid.
    """
    registered: list[Registered] = []
    problems: list[FileProblems] = []
    broken: set[str] = set()
    with conn.transaction() as whole:
        for one in definitions:
            if broken & (_named(one, "pipeline") | _runs(one, definitions)):
                broken.add(one.name)
                continue
            try:
                with conn.transaction():
                    registered.append(_register(conn, one))
            except psycopg.DatabaseError as error:
                no_version = one.kind in ("limit", "schedule")
                about_value = no_version and isinstance(error, psycopg.DataError)
                if not (about_value or (error.sqlstate or "").startswith("QW")):
                    raise
                broken.add(one.name)
                lines = [
                    error.diag.message_primary or str(error),
                    *(error.diag.message_detail or "").splitlines(),
                ]
                advice = (hints.of(error.diag) or "").splitlines()
                of = f"{one.kind} {one.name}: " if no_version else ""
                told = [of + line for line in lines[1:] or lines]
                problems.append(FileProblems(one.path, told, advice))
        if problems or all(one.change == "unchanged" for one in registered):
            raise psycopg.Rollback(whole)
    if problems:
        raise DefinitionError(problems)
    return registered


def _read(path: Path) -> list[DefinitionFile]:
    """The definition in a file, or its limits. A pipe is refused, as it may never end or never
    begin; so is what is larger than any setting allows. Raises OSError or ValueError."""
    if path.exists() and not path.is_file():
        raise ValueError("it is no file: write the definition into one")
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES >> 20} MiB: that is no definition")
    if path.suffix != ".json" and len(content) > MOST_YAML_BYTES:
        raise ValueError("it has more than 1 MiB of YAML, which takes minutes: write it as JSON")
    text = content.decode("utf-8")
    if "\0" in text or NUL.search(text):
        raise ValueError("it has a NUL (\\u0000), which Postgres cannot store: leave that out")
    found = strict_json.read(text) if path.suffix == ".json" else yaml_files.load(text)
    kind = path.stem.rpartition(".")[2]
    if kind in NAMED_BY_FILE:
        if not isinstance(found, dict):
            raise ValueError(f"{kind}: an object")
        if kind == "schedule" and (unknown := sorted(found.keys() - SCHEDULE_KEYS)):
            listed = ", ".join(sorted(SCHEDULE_KEYS))
            raise ValueError(f"it has {', '.join(unknown)}; its keys are {listed}")
        return [DefinitionFile(path, kind, found)]
    if isinstance(found, dict) and "limits" in found:
        return [DefinitionFile(path, "limit", one) for one in _limits(found)]
    kinds = [
        kind for key, kind in yaml_files.KINDS.items() if isinstance(found, dict) and key in found
    ]
    if len(kinds) != 1:
        raise ValueError(
            'neither a pipeline (an object with "nodes") nor a workflow (an object with "steps"),'
            ' nor limits (an object with "limits")'
        )
    return [DefinitionFile(path, kinds[0], property_order.with_order(found))]


def _limits(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The limits of a file. Raises ValueError."""
    listed = found["limits"]
    if more := sorted(found.keys() - {"limits", "$schema"}):
        raise ValueError(f"a file with limits has nothing else: {', '.join(more)}")
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise ValueError("limits: a list of objects")
    names = [one.get("name") for one in listed]
    for at, one in enumerate(listed):
        if not isinstance(one.get("name"), str):
            raise ValueError(f"limits[{at}].name: a text")
        if unknown := sorted(one.keys() - set(LIMIT_KEYS)):
            raise ValueError(
                f"limits[{at}] has {', '.join(unknown)}; its keys are {', '.join(LIMIT_KEYS)}"
            )
        if one["name"] in names[:at]:
            raise ValueError(f"limits[{at}]: limit {one['name']} stands twice")
    return listed


def _runs(one: DefinitionFile, found: list[DefinitionFile]) -> set[str]:
    """The workflows that have to be registered before it."""
    nodes = {pipe.name: _parts(pipe, "nodes") for pipe in found if pipe.kind == "pipeline"}
    inlined = [node for name in _named(one, "pipeline") for node in nodes.get(name, [])]
    return _named(one, "workflow") | {str(n["workflow"]) for n in inlined if "workflow" in n}


def _parts(one: DefinitionFile, key: str) -> list[dict[str, Any]]:
    """The nodes or steps that are objects."""
    listed = one.content.get(key)
    return [part for part in listed if isinstance(part, dict)] if isinstance(listed, list) else []


def _named(one: DefinitionFile, key: str) -> set[str]:
    """The pipelines, or the workflows, that the steps of a workflow, or a schedule, name."""
    if one.kind == "schedule" and key == "workflow":
        return {str(one.content.get(key)).partition("@")[0]}
    if one.kind != "workflow":
        return set()
    return {str(step[key]) for step in _parts(one, "steps") if key in step}


def _register(conn: psycopg.Connection[DictRow], one: DefinitionFile) -> Registered:
    if one.kind == "alert":
        return _set_alert(conn, one)
    if one.kind == "limit":
        return _stored(conn, one, LIMIT, CREATE_LIMIT, (Jsonb(one.content),))
    if one.kind == "schedule":
        return _stored(conn, one, SCHEDULE, CREATE_SCHEDULE, (one.name, Jsonb(one.content)))
    before = _versions(conn, one)
    query = sql.SQL("select {}(%s) as version").format(
        sql.Identifier("qwf", f"register_{one.kind}")
    )
    (row,) = conn.execute(query, (Jsonb(one.content),)).fetchall()
    version = row["version"]
    change = "new" if version not in before else "unchanged" if before[version] else "restored"
    return Registered(one.kind, one.name, version, change, one.path)


def _set_alert(conn: psycopg.Connection[DictRow], one: DefinitionFile) -> Registered:
    """Set the rule of an alert; its version is always 1."""
    query = "select rule from qwf.alert_overview where name = %s"
    before = conn.execute(query, (one.name,)).fetchone()
    conn.execute("select qwf.set_alert(%s, %s)", (one.name, Jsonb(one.content)))
    same = before == conn.execute(query, (one.name,)).fetchone()
    change = "new" if before is None else "unchanged" if same else "changed"
    return Registered(one.kind, one.name, 1, change, one.path)


def _stored(
    conn: psycopg.Connection[DictRow], one: DefinitionFile, read: LiteralString,
    create: LiteralString, given: Sequence[Any],
) -> Registered:  # fmt: skip
    """Create or change what has no version: a limit, which keeps what its file does not give, or a
    schedule."""
    before = conn.execute(read, (one.name,)).fetchall()
    conn.execute(create, given)
    after = conn.execute(read, (one.name,)).fetchall()
    change = "new" if not before else "unchanged" if before == after else "changed"
    return Registered(one.kind, one.name, None, change, one.path)


def _versions(conn: psycopg.Connection[DictRow], one: DefinitionFile) -> dict[int, bool]:
    query = sql.SQL("select version, current from {} where name = %s").format(
        sql.Identifier("qwf", f"{one.kind}s")
    )
    return {row["version"]: row["current"] for row in conn.execute(query, (one.name,))}
