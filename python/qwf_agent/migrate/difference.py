"""The statements that lead from the objects of one set of sources to those of another.

Sources are edited in place, so they are no migration. They are compared object by object: a
function that moves to another file, and a comment that is rewritten, change nothing. A function, a
view or a trigger is replaced, or dropped and made again with whatever uses it; a table, a type and
a sequence have data or are parts of tables, so what they need is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import psycopg
from psycopg.rows import tuple_row

from qwf_agent.migrate import objects, trust
from qwf_agent.migrate.plan import MigrateError

# Every object ("function qwf.claim") in the order of the sources, with the statements about it.
Objects = Mapping[str, Sequence[str]]
BY_HAND = ("table", "type", "sequence", "schema")  # kinds of objects
MADE_AGAIN = ("function", "view")
_DESCRIBES = re.compile(r"comment on|create (?:unique )?index")
_INDEX = re.compile(r"create (?:unique )?index (\w+)")
_CHECK = "call _qwf.check_bodies();"
_EVERYWHERE = re.compile(r"\bon all \w+ in schema\b")
_BODY = re.compile(r"\nas ['$]|\nreturn |\nbegin atomic")

_FUNCTIONS = """
select p.pronamespace::regnamespace::text || '.' || p.proname,
  case p.prokind when 'p' then 'procedure' else 'function' end,
  pg_get_function_identity_arguments(p.oid), md5(p.prosrc)
from pg_proc p where p.pronamespace::regnamespace::text in ('qwf', '_qwf')
order by p.oid
"""
# Who must go when these go: views and functions by what they name, at any depth.
_USERS = """
with recursive used (class, id) as (
  select 'pg_proc'::regclass, p.oid from pg_proc p
  where 'function ' || p.pronamespace::regnamespace::text || '.' || p.proname = any (%(keys)s)
  union all
  select 'pg_class'::regclass, c.oid from pg_class c
  where 'view ' || c.relnamespace::regnamespace::text || '.' || c.relname = any (%(keys)s)
    and c.relkind = 'v'
  union
  select u.class, u.id from used n, lateral (
    select case when r.oid is null then d.classid else 'pg_class'::regclass end::regclass,
      coalesce(r.ev_class, d.objid)
    from pg_depend d
    left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
    where d.refclassid = n.class and d.refobjid = n.id and d.deptype in ('n', 'a', 'i')
  ) u (class, id)
), named as (
  select u.class, u.id, coalesce(c.oid, a.adrelid, k.conrelid, p.polrelid, i.indrelid, u.id) as rel,
    t.tgname, t.tgrelid
  from used u
  left join pg_attrdef a on u.class = 'pg_attrdef'::regclass and a.oid = u.id
  left join pg_constraint k on u.class = 'pg_constraint'::regclass and k.oid = u.id
  left join pg_policy p on u.class = 'pg_policy'::regclass and p.oid = u.id
  left join pg_index i on u.class = 'pg_class'::regclass and i.indexrelid = u.id
  left join pg_trigger t on u.class = 'pg_trigger'::regclass and t.oid = u.id
  left join pg_class c on u.class = 'pg_class'::regclass and c.oid = u.id and c.relkind <> 'i'
)
select distinct case
    when n.class = 'pg_proc'::regclass then (
      select 'function ' || p.pronamespace::regnamespace::text || '.' || p.proname
      from pg_proc p where p.oid = n.id)
    when n.class = 'pg_trigger'::regclass then 'trigger ' || n.tgrelid::regclass || '.' || n.tgname
    when n.class in ('pg_class'::regclass, 'pg_attrdef'::regclass, 'pg_constraint'::regclass,
        'pg_policy'::regclass) then (
      select case c.relkind when 'v' then 'view ' when 'c' then 'type ' when 'r' then 'table '
        else 'relation ' end || c.relnamespace::regnamespace::text || '.' || c.relname
      from pg_class c where c.oid = n.rel)
    else pg_describe_object(n.class, n.id, 0)
  end
from named n
where n.class not in ('pg_type'::regclass, 'pg_rewrite'::regclass)
"""


class ByHand(MigrateError):
    """A statement is missing that only somebody who knows the data can write."""


class Routine(NamedTuple):
    """A function or procedure of a database. `body`: the MD5 of it."""

    kind: str
    arguments: str
    body: str


@dataclass
class Catalogue:
    """A database in the state that a difference leads away from."""

    conn: psycopg.Connection[Any]
    routines: dict[str, list[Routine]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, *rest in self._rows(_FUNCTIONS):
            self.routines.setdefault(f"function {name}", []).append(Routine(*rest))

    def users(self, keys: Iterable[str]) -> set[str]:
        """These objects, and those that use one of them."""
        return {name for (name,) in self._rows(_USERS, {"keys": list(keys)})}

    def _rows(self, query: str, values: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
        cursor = trust.PinnedCursor(self.conn, row_factory=tuple_row)
        return cursor.execute(query, values).fetchall()

    def drop(self, key: str) -> str:
        """The statement that drops an object, with the argument types of a function."""
        kind, name = key.split(" ", 1)
        if kind == "trigger":
            table, _, trigger = name.rpartition(".")
            return f"drop trigger if exists {trigger} on {table};"
        if kind == "function":
            routine = self.routines[key][0]
            return f"drop {routine.kind} {name}({routine.arguments});"
        return f"drop {kind} {name};"


@dataclass(frozen=True)
class Difference:
    """The statements that lead from old to new, and what they do: "replaced" and the objects."""

    statements: list[str]
    done: dict[str, list[str]]

    def __str__(self) -> str:
        return "\n\n".join(self.statements)


def read(sources: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """All objects of these sources (name and text) in order. The comments in front of a statement
    are left out. Statements about no object belong to the one before, or to "file NAME"."""
    found: dict[str, list[str]] = {}
    for name, text in sources:
        last = f"file {name}"
        for one in objects.statements(text):
            if one.object and (one.makes or one.object in found):
                last = one.object
            found.setdefault(last, []).append(objects.bare(one.text))
    return found


def same_head(old: Sequence[str], new: Sequence[str]) -> bool:
    """Return True if only the body of a function differs, so far as its text can tell."""
    return _BODY.split(old[0])[0] == _BODY.split(new[0])[0]


def lead(
    old: Objects,
    new: Objects,
    there: Catalogue,
    keeps: Callable[[str], bool],
    by_hand: str = "",
) -> Difference:
    """The statements that lead from the old objects to the new ones. `keeps` says whether `create
    or replace` takes the new text of a function or view. Raises ByHand, and MigrateError if tables
    or objects of others use what must be made again."""
    changed, added, gone = compare(old, new, by_hand)
    written = _code(by_hand)
    again = [
        key for key in changed
        if _kind(key) in MADE_AGAIN and (_rights(old[key]) - _rights(new[key]) or not keeps(key))
    ]  # fmt: skip
    falling = there.users(again) if again else set()
    if held := sorted(k for k in falling if k not in old or _kind(k) in BY_HAND):
        raise MigrateError(
            f"{', '.join(held)} uses {', '.join(again)}, which must be dropped and made again:"
            " drop what is your own first; what a table uses gets another name instead"
        )
    touched = [
        key for key in old
        if _kind(key) == "function" and (key in falling or key in changed or key in gone)
    ]  # fmt: skip
    out = [_guard(there, touched)] if touched else []
    done: dict[str, list[str]] = {"replaced": [], "made again": [], "added": [], "dropped": []}
    for key in reversed([*old]):
        if key in falling:
            out.append(there.drop(key))
    if written:
        out.append(by_hand.strip())
    for key, texts in new.items():
        if key in falling or key in added:
            out += _unwritten(texts, written)
            done["added" if key in added else "made again"].append(key)
        elif key in changed:
            out += _replacing(key, old[key], texts, written)
            done["replaced"].append(key)
    for key in reversed(gone):
        done["dropped"].append(key)
        if key not in falling and _kind(key) in ("trigger", "function", "view", "type"):
            out += [there.drop(key)] if not _is_written("drop", key, written) else []
    if added or falling or written:  # what is new gets the rights that all have
        for key in new:
            if key.startswith("file ") and key not in [*changed, *added]:
                out += new[key] if _EVERYWHERE.search("\n".join(new[key])) else []
    if out:
        out = [text for text in out if text != _CHECK] + [_CHECK]
    return Difference(out, {word: keys for word, keys in done.items() if keys})


def compare(old: Objects, new: Objects, by_hand: str) -> tuple[list[str], list[str], list[str]]:
    """The objects that have changed, come and gone. Raises ByHand unless what is written by hand
    names all that need it."""
    changed = [key for key in new if key in old and [*old[key]] != [*new[key]]]
    added = [key for key in new if key not in old]
    gone = [key for key in old if key not in new]
    written = _code(by_hand)
    advice = []
    for key in [*changed, *gone]:
        kind, name = key.split(" ", 1)
        before, after = _made(old[key]), _made(new.get(key, []))
        needed = kind in BY_HAND and before != after and (kind != "type" or bool(after))
        if needed and not re.search(rf"\b{re.escape(name)}\b", written):
            advice += _suggested(kind, name, before[:1], after[:1])
    if advice:
        raise ByHand(
            "these hold data, and nobody has written what becomes of it; write into"
            " sql/releases/next.sql, for example:\n" + "\n".join(advice)
        )
    return changed, added, gone


def columns(key: str, texts: Sequence[str]) -> list[str]:
    """The columns of a table or the attributes of a type in order; empty for another type."""
    kind = _kind(key)
    if kind == "table" or (kind == "type" and " as enum" not in texts[0]):
        return [name for name, part in _parts(texts[0]).items() if name != part]
    return []


def _suggested(kind: str, name: str, old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The statements that somebody may have to write."""
    if not new:
        return [f"drop {kind} {name};"]
    if kind in ("schema", "sequence") or old == new:
        return [f"alter {kind} {name} …;"]
    before, after = _parts(old[0]), _parts(new[0])
    part = "column" if kind == "table" else "attribute"
    alter = f"alter {kind} {name}"
    if " as enum" in new[0]:
        return [f"{alter} add value {value};" for value in after if value not in before] or [
            f"{alter} …;"
        ]
    found = [f"{alter} drop {part} {one};" for one in before if one not in after]
    found += [f"{alter} add {part} {text};" for one, text in after.items() if one not in before]
    found += [
        f"{alter} alter {part} {one} …;  -- to: {text}"
        for one, text in after.items()
        if before.get(one, text) != text
    ]
    return found or [f"{alter} …;"]


_PART = re.compile(r"'(?:[^']|'')*'|--[^\n]*|[(),]")
_NO_COLUMN = re.compile(r"(?:constraint|primary key|unique|check|foreign key|exclude|like)\b")


def _parts(text: str) -> dict[str, str]:
    """The parts between the outer brackets: each column by its name, all else by its text."""
    start = text.find("(") + 1
    depth, parts, position = 0, [], start
    for token in _PART.finditer(text, start):
        if token[0] == "(":
            depth += 1
        elif (token[0] == "," and not depth) or (token[0] == ")" and depth == 0):
            parts.append(" ".join(_code(text[position : token.start()]).split()))
            position = token.end()
            if token[0] == ")":
                break
        elif token[0] == ")":
            depth -= 1
    return {p if _NO_COLUMN.match(p) or " " not in p else p.split()[0].strip('"'): p for p in parts}


def _replacing(key: str, old: Sequence[str], new: Sequence[str], written: str) -> list[str]:
    """The statements that give an object its new text."""
    kind, name = key.split(" ", 1)
    if kind in BY_HAND:  # its comments and indexes; the rest is written by hand
        was, will = (
            {found[1]: text for text in texts if (found := _INDEX.match(text))}
            for texts in (old, new)
        )
        schema = name.partition(".")[0]
        drops = [
            f"drop index if exists {schema}.{index};"
            for index, text in was.items()
            if will.get(index) != text
        ]
        return drops + [
            text for text in _unwritten(new, written) if text not in old and _DESCRIBES.match(text)
        ]
    if kind == "trigger" and new[0].startswith("create constraint"):
        table, _, trigger = name.rpartition(".")
        return [f"drop trigger {trigger} on {table};", *new]
    return [
        re.sub(r"^create (function|procedure|view|trigger)\b", r"create or replace \1", text)
        for text in new
    ]


def _guard(there: Catalogue, keys: Sequence[str]) -> str:
    """A statement that looks at the functions it names before anything is changed, and says what
    the doctor says: one that was changed by hand is replaced, with a notice; others of its name,
    made by hand, stop everything."""
    rows = []
    for key in keys:
        found = there.routines.get(key, [])
        if len(found) != 1:
            raise MigrateError(
                f"{key} " + (_MANY.format(len(found)) if found else "is missing") + _HAND
            )
        name = key.partition(" ")[2]
        rows.append(f"('{name}', '{found[0].arguments.replace(chr(39), chr(39) * 2)}',"
                    f" '{found[0].body}')")  # fmt: skip
    return _GUARD.format(rows=",\n      ".join(rows), many=_MANY.replace("{}", "%"), hand=_HAND[2:])


_MANY = "exists {} times, with different arguments"
_HAND = ": do not change the schemas qwf and _qwf by hand; drop what is not shipped"
_GUARD = """do $$
declare
  v_hint constant text := '{hand}';
  v_one record;
begin
  for v_one in
    select n.name, count(p.oid) as times,
      bool_and(pg_get_function_identity_arguments(p.oid) = n.arguments) as fits,
      bool_and(md5(p.prosrc) = n.body) as same
    from (values
      {rows}
    ) n (name, arguments, body)
    left join pg_proc p on p.pronamespace::regnamespace::text || '.' || p.proname = n.name
    group by n.name
  loop
    if v_one.times = 0 then
      raise exception 'function % is missing', v_one.name using hint = v_hint;
    elsif v_one.times > 1 then
      raise exception 'function % {many}', v_one.name, v_one.times using hint = v_hint;
    elsif not v_one.fits then
      raise exception 'function % has other arguments than the shipped one', v_one.name
        using hint = v_hint;
    elsif not v_one.same then
      raise notice 'function % differs from the shipped one, and is replaced', v_one.name;
    end if;
  end loop;
end $$;"""


def _kind(key: str) -> str:
    return key.partition(" ")[0]


def _made(texts: Sequence[str]) -> list[str]:
    """The statements about an object but its comments and indexes."""
    return [text for text in texts if not _DESCRIBES.match(text)]


def _rights(texts: Sequence[str]) -> set[str]:
    """The roles that may execute a function."""
    return {
        role
        for text in texts
        if text.startswith("call _qwf.allow(")
        for role in re.findall(r"'(\w+)'", text)
    }


def _unwritten(texts: Sequence[str], written: str) -> list[str]:
    """Those of these statements that somebody has not written by hand."""
    flat = " ".join(written.split())
    return [
        text
        for text in texts
        if " ".join(_code(text).split()) not in flat
        and not any(
            one.makes and _is_written("create", one.object, written)
            for one in objects.statements(text)
        )
    ]


def _is_written(verb: str, key: str, written: str) -> bool:
    kind, name = key.split(" ", 1)
    return bool(
        re.search(rf"\b{verb} (?:unlogged )?{kind} (?:if exists )?{re.escape(name)}\b", written)
    )


def _code(text: str) -> str:
    """SQL without comments."""
    return re.sub(r"--[^\n]*", "", text).strip()
