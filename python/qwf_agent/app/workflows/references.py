"""References and expressions: values that are known only in a run, as objects.

A reference is a path: attributes and items make it longer. Whatever else Python does with a value
is refused, because it would happen now, and not in the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypedDict, overload

from qwf_agent.app.values import suggestion

if TYPE_CHECKING:
    from typing_extensions import Unpack

Value: TypeAlias = (
    "bool | int | float | str | PurePath | Expression"
    " | Sequence[Value] | Mapping[str, Value] | None"
)


class DefaultKey(TypedDict, total=False):
    """Arguments of `coalesce()` beside its candidates: `$default`."""

    default: Value


class ReferenceKeys(DefaultKey, total=False):
    """Arguments of `ref()` beside a path: `$default`, `$filter`, `$eq` and `$ne`."""

    filter: Mapping[str, Value]
    eq: Value
    ne: Value


class Expression:
    """A value that is known only in a run. It can be given wherever a definition takes one."""

    __slots__ = ("_members",)

    def __init__(self, members: Mapping[str, object]) -> None:
        self._members = members

    def __repr__(self) -> str:
        return f"<{self._members}>"

    def _plain(self, where: str, owner: object) -> dict[str, Any]:
        return {
            key: member._path_in_json(where, owner)
            if isinstance(member, Reference) and key == "$from"
            else plain(member, where, None if key == "$value" else owner)
            for key, member in self._members.items()
        }


class Reference(Expression):
    """The path of a value. An attribute or an item leads to what is inside of it:
    `find.photos[0]` is `{"$from": "find.photos.0"}`. `owner` is the definition that it belongs
    to, if it belongs to one only."""

    __slots__ = ("_owner", "_path")

    def __init__(self, path: Sequence[str | int], owner: object = None) -> None:
        self._path = (*path,)
        self._owner = owner

    def __getattr__(self, name: str) -> Reference:
        if name.startswith("_"):
            raise AttributeError(
                f"{name!r} begins with _: write [{name!r}] if it is a name of a path"
            )
        return self[name]

    def __getitem__(self, key: str | int) -> Reference:
        if not _is_name(key):
            raise TypeError(f"{self!r} takes a name or a position in brackets, not {key!r}")
        return Reference((*self._path, key), self._owner)

    def __repr__(self) -> str:
        return f"<{'.'.join(map(str, self._path))}>"

    def _plain(self, where: str, owner: object) -> dict[str, Any]:
        return {"$from": self._path_in_json(where, owner)}

    def _path_in_json(self, where: str, owner: object) -> str | list[str | int]:
        """A text; or a list, if a name has a dot or no character."""
        if self._owner is not None and self._owner is not owner:
            raise TypeError(f"{where}: {self!r} belongs to {self._owner}, not to this definition")
        if all(isinstance(name, int) or (name and "." not in name) for name in self._path):
            return ".".join(map(str, self._path))
        return [*self._path]


def _refusal(why: str) -> Callable[..., NoReturn]:
    def refuse(self: Expression, *_: object) -> NoReturn:
        raise TypeError(f"{self!r} is known only in a run, so it {why}")

    return refuse


COMPARED = "cannot be compared here: write ref(..., eq=...) or ref(..., ne=...)"
ORDERED = "cannot be compared here: let a task compare it, and give its output to skip_if"
TESTED = "is neither true nor false here: give it to skip_if, or write ref(..., eq=...)"
ITERATED = "has no elements here: give it to map, or write [0] for one of them"
WRITTEN = "cannot be put into a text: let the task that gets it write the text"
CALCULATED = "cannot be calculated with here: let a task do it"
REFUSED = {
    "__bool__": TESTED,
    **dict.fromkeys(("__eq__", "__ne__"), COMPARED),
    **dict.fromkeys(("__lt__", "__le__", "__gt__", "__ge__"), ORDERED),
    **dict.fromkeys(("__iter__", "__len__", "__contains__", "__reversed__"), ITERATED),
    **dict.fromkeys(("__str__", "__format__"), WRITTEN),
    **{
        f"__{side}{name}__": CALCULATED
        for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or")
        for side in ("", "r")
    },
    "__hash__": "cannot be a key of a dict, or in a set",
    "__call__": "has no methods: every attribute is the name of a value inside of it",
}
for _name, _why in REFUSED.items():  # not in the class: type checkers shall not see them as allowed
    setattr(Expression, _name, _refusal(_why))

item = Reference(["item"])  # the element of a map
index = Reference(["index"])  # its position, from 0
this_run = Reference(["run"])  # for a node that cleans up: .error, .failed, .id, .status


@overload
def ref(path: str | Sequence[str | int] | Reference, /) -> Reference: ...


@overload
def ref(
    path: str | Sequence[str | int] | Reference, /, **keys: Unpack[ReferenceKeys]
) -> Expression: ...


def ref(
    path: str | Sequence[str | int] | Reference, /, **keys: Unpack[ReferenceKeys]
) -> Expression:
    """The value at a path: a reference, a text such as "photo.path" that is split at its dots, or
    a list of names and positions. `default` is taken if the path leads nowhere, `filter` selects
    elements of a list, `eq` and `ne` compare: see docs/references.md.

    Raises TypeError for another keyword, and for a value that is no path.
    """
    check_keys("ref()", keys, ReferenceKeys.__annotations__)
    start = path if isinstance(path, Reference) else Reference(_names(path))
    if not keys:
        return start
    return Expression({"$from": start, **{f"${key}": member for key, member in keys.items()}})


def coalesce(*candidates: Value, **keys: Unpack[DefaultKey]) -> Expression:
    """The first of the candidates that has a value other than null, or else the `default`. Raises
    TypeError for another keyword."""
    check_keys("coalesce()", keys, DefaultKey.__annotations__)
    return Expression({"$coalesce": candidates, **{f"${key}": one for key, one in keys.items()}})


def value(data: Value, /) -> Expression:
    """These data unchanged, also if they have keys that begin with $."""
    return Expression({"$value": data})


def check_keys(what: str, given: Mapping[str, object], known: Mapping[str, object]) -> None:
    """Raise TypeError for a key that is not known, with the one that was probably meant."""
    for key in given:
        if key not in known:
            raise TypeError(f"{what} does not take {key!r}; {suggestion(key, known)}")


def plain(given: object, where: str, owner: object) -> Any:
    """A value as JSON has it; a path of a file becomes its text. `owner` is the definition in which
    it stands, None if no reference may stand there.

    Raises TypeError for what JSON does not have, for a reference that is not allowed, and for one
    of another definition.
    """
    if isinstance(given, Expression):
        if owner is None:
            raise TypeError(f"{where} takes no reference: {given!r} is known only in a run")
        return given._plain(where, owner)
    if isinstance(given, Mapping):
        for key in given:
            if not isinstance(key, str):
                raise TypeError(f"{where} has the key {key!r}, which is not a text")
        return {key: plain(member, where, owner) for key, member in given.items()}
    if isinstance(given, (list, tuple)):
        return [plain(member, where, owner) for member in given]
    if isinstance(given, PurePath):
        return str(given)
    if given is None or isinstance(given, (bool, int, float, str)):
        return given
    raise TypeError(f"{where} is not JSON: it contains a value of type {type(given).__name__}")


def names_read(given: Any) -> Iterator[str]:
    """The first name of each path in a value as JSON, in the order in which they stand there."""
    if isinstance(given, list):
        for member in given:
            yield from names_read(member)
    elif isinstance(given, dict) and "$value" not in given:
        path = given.get("$from")
        if isinstance(path, str):
            yield path.partition(".")[0]
        elif isinstance(path, list) and path and isinstance(path[0], str):
            yield path[0]
        for member in given.values():
            yield from names_read(member)


def _names(path: object) -> Sequence[str | int]:
    names = path.split(".") if isinstance(path, str) else path
    if not isinstance(names, (list, tuple)) or not names or not all(map(_is_name, names)):
        raise TypeError(f"a path is a text or a list of names and positions, not {path!r}")
    if isinstance(path, str) and not all(names):
        raise TypeError(f"the path {path!r} has an empty name before, between or after its dots")
    return names


def _is_name(one: object) -> bool:
    return isinstance(one, (str, int)) and not isinstance(one, bool)
