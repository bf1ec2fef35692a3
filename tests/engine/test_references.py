"""qwf.resolve against the model: the same value, or the same kind of fault, for anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from support import reference_model as model

Connection = psycopg.Connection[Any]
MANY = settings(
    max_examples=250,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

names = st.sampled_from(["a", "b", "ab", "step/node", "0", "-1", "label", "é", "a.b"])
texts = st.sampled_from(["", "a", "b", "ab", "0", "$from"])
scalars = st.none() | st.booleans() | st.integers(-3, 3) | texts
# What references find: plain data, and data that looks like an expression.
data = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(names, inner, max_size=3),
        st.lists(st.fixed_dictionaries({"a": scalars, "label": inner}), max_size=4),
        st.builds(lambda x: {"$from": x}, inner),
    ),
    max_leaves=12,
)
scopes = st.dictionaries(names, data, min_size=1, max_size=4)
segments = names | st.sampled_from(["2", " 1", "+1", "01", "1 ", "9999999999", "x"])
bad_paths = st.sampled_from(["", ".", "a.", "a..b", [], ["a", None], ["a", 1.5], ["a", ["b"]], 3])
filter_keys = st.sampled_from(
    ["eq:a", "a:eq", "eq:label", "label:eq", "eq:label.a", "eq:eq", "eq:0"]
) | st.sampled_from(["matches:a", "a:matches", "matches:label", "matches:eq"])
patterns = st.sampled_from(["a", "^a", "b$", "[ab]+", "x|b", "^$", "(", "[a"])


def inside(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every path that leads somewhere in a value."""
    if path:
        yield path
    if isinstance(value, list):
        value = dict(enumerate(value))
    for key, member in value.items() if isinstance(value, dict) else ():
        yield from inside(member, (*path, key))


class Inside(NamedTuple):
    """A path into a scope that is not known yet: the n-th there is, and what comes after it."""

    n: int
    more: list[Any]


class Written(NamedTuple):
    """A path as a text."""

    path: Any


# Strategies are made once, as making them costs more than drawing from them: paths into the scope
# of a case are filled in when it has been drawn.
places = st.integers(0, 60)
lost = st.lists(segments | st.integers(-2, 2), min_size=1, max_size=3)
real = st.builds(Inside, places, st.just([]))
longer = st.builds(Inside, places, st.lists(segments, min_size=1, max_size=1))
listed = st.one_of(real, real, real, longer, lost)
paths = listed | st.builds(Written, listed)


def filled(value: Any, scope: Any) -> Any:
    """A value that was drawn, with its paths into the scope."""
    if isinstance(value, Inside):
        there = list(inside(scope))
        return [*there[value.n % len(there)], *value.more]
    if isinstance(value, Written):
        return ".".join(str(segment) for segment in filled(value.path, scope))
    if isinstance(value, list):
        return [filled(member, scope) for member in value]
    if isinstance(value, dict):
        return {key: filled(member, scope) for key, member in value.items()}
    return value


def expressions(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    compiled = st.builds(
        lambda first, rest: [first, *rest],
        st.lists(names, min_size=1, max_size=2) | inner.map(lambda x: x if type(x) is dict else {}),
        st.lists(segments, max_size=1),
    )
    filters = st.dictionaries(filter_keys, st.one_of(texts, patterns, inner), max_size=2)
    froms = st.fixed_dictionaries(
        {"$from": paths | compiled},
        optional={"$default": inner, "$eq": inner | data, "$filter": filters},
    )
    unequal = st.fixed_dictionaries({"$from": paths, "$ne": inner | data})
    filtered = st.fixed_dictionaries(
        {"$from": st.just(["$list"]), "$filter": filters}, optional={"$eq": data}
    )
    coalesces = st.fixed_dictionaries(
        {"$coalesce": st.lists(inner, max_size=3)}, optional={"$default": inner}
    )
    literals = st.fixed_dictionaries({"$value": data})
    return st.one_of(froms, froms, froms, unequal, filtered, coalesces, literals)


broken = st.one_of(
    st.fixed_dictionaries({"$from": bad_paths}, optional={"$default": scalars}),
    st.fixed_dictionaries({"$value": scalars}, optional={"x": scalars, "$coalesce": scalars}),
    st.fixed_dictionaries(
        {"$from": st.just("a"), "$filter": st.sampled_from([{"a": 1}, [], {"eq:": 1}, {}, None])}
    ),
    st.sampled_from([{"$eq": 1}, {"$form": "a"}, {"$from": "a", "x": 1}, {"$": 1}]),
    st.sampled_from([{"$from": "a", "$eq": 1, "$ne": 1}, {"$value": 1, "$from": "a"}]),
    st.just({"$coalesce": 7}),
)


def values(faults: bool) -> st.SearchStrategy[Any]:
    leaves = scalars | st.fixed_dictionaries({"$from": paths})
    return st.recursive(
        leaves | broken if faults else leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(names, inner, max_size=3),
            expressions(inner),
            expressions(inner),
        ),
        max_leaves=6,
    )


faultless, faulty = values(faults=False), values(faults=True)
lists = st.lists(st.fixed_dictionaries({"a": texts, "label": scalars}))
members = st.one_of(
    st.fixed_dictionaries({"$from": listed}),
    st.fixed_dictionaries({"$from": st.tuples(st.builds(Written, listed)).map(list)}),
    data,
    faultless,
)
inputs = st.dictionaries(names, members, max_size=3)


@st.composite
def cases(draw: st.DrawFn, faults: bool = False) -> tuple[Any, Any]:
    """A value and the scope to resolve it in."""
    scope = {**draw(scopes), "$list": draw(lists)}
    return filled(draw(faulty if faults else faultless), scope), scope


@st.composite
def inputs_of_nodes(draw: st.DrawFn) -> tuple[Any, Any]:
    """Inputs in the shape that resolving takes a short cut for, and the scope."""
    scope = draw(scopes)
    return filled(draw(inputs), scope), scope


def asked(db: Connection, value: Any, scope: Any) -> tuple[str, Any]:
    row = db.execute(
        "select r.value, r.error from _qwf.resolve(%s, %s) r", [Jsonb(value), Jsonb(scope)]
    ).fetchone()
    assert row is not None
    found, error = row
    return ("value", found) if error is None else (error.split()[0].rstrip(":"), None)


def expected(value: Any, scope: Any) -> tuple[str, Any]:
    try:
        return "value", model.resolve(value, scope)
    except model.ReferenceFault as fault:
        return fault.kind, None


def check(db: Connection, value: Any, scope: Any) -> None:
    kind, found = asked(db, value, scope)
    wanted_kind, wanted = expected(value, scope)
    assert kind == wanted_kind
    assert model.equal(found, wanted)


@MANY
@given(case=cases())
def test_resolve_agrees_with_the_model(db: Connection, case: tuple[Any, Any]) -> None:
    check(db, *case)


@MANY
@given(case=cases(faults=True))
def test_it_does_where_expressions_are_malformed(db: Connection, case: tuple[Any, Any]) -> None:
    check(db, *case)


@MANY
@given(case=inputs_of_nodes())
def test_it_does_for_the_inputs_of_nodes(db: Connection, case: tuple[Any, Any]) -> None:
    check(db, *case)


@MANY
@given(case=cases(faults=True), element=data, place=st.integers(0, 3), more=st.data())
def test_folding_leaves_only_the_element_to_resolve(
    db: Connection, case: tuple[Any, Any], element: Any, place: int, more: st.DataObject
) -> None:
    shared, of_element = case[1], {"$item": element, "$index": place}
    value = filled(more.draw(faulty), shared | of_element) if place else case[0]
    row = db.execute("select _qwf.fold(%s, %s)", [Jsonb(value), Jsonb(shared)]).fetchone()
    assert row is not None
    kind, found = asked(db, row[0], of_element)
    wanted_kind, wanted = asked(db, value, shared | of_element)
    assert kind == wanted_kind
    assert model.equal(found, wanted)


@MANY
@given(value=data)
def test_what_a_reference_finds_is_data(db: Connection, value: Any) -> None:
    assert asked(db, {"x": {"$from": "a"}}, {"a": value}) == ("value", {"x": value})
    assert asked(db, {"x": {"$value": value}}, {}) == ("value", {"x": value})


@MANY
@given(case=cases(faults=True))
def test_what_registration_lets_pass_is_never_malformed(
    db: Connection, case: tuple[Any, Any]
) -> None:
    value, scope = case
    problems = db.execute(
        "select from _qwf.expression_problems(%s, 'inputs')", [Jsonb(value)]
    ).fetchall()
    if not problems:
        assert asked(db, value, scope)[0] != "malformed"


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("1", "1.0", True),
        ("1", "true", False),
        ("1", '"1"', False),
        ("null", "null", True),
        ("[]", "{}", False),
        ("[1, 2]", "[2, 1]", False),
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', True),
    ],
)
def test_equality_is_that_of_json(db: Connection, left: str, right: str, same: bool) -> None:
    value = f'{{"$from": "a", "$eq": {{"$value": {right}}}}}'
    row = db.execute("select qwf.resolve(%s, %s)", [value, f'{{"a": {left}}}']).fetchone()
    assert row == (same,)
