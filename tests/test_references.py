"""qwf.resolve against the model: the same value, or the same kind of fault, for anything."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

import reference_model as model

Connection = psycopg.Connection[Any]
MANY = settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

names = st.sampled_from(["a", "b", "ab", "step/node", "0", "1", "-1", "label", "é", "a.b"])
scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b", "ab", "0"])
# What references find: plain data, and data that looks like an expression.
data = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(names, inner, max_size=3),
        st.builds(lambda x: {"$from": x}, inner),
    ),
    max_leaves=12,
)
scopes = st.dictionaries(names, data, max_size=4)
segments = st.one_of(names, st.sampled_from(["2", " 1", "+1", "01", "1 ", "9999999999", "x"]))
text_paths = st.lists(segments, min_size=1, max_size=3).map(".".join)
list_paths = st.lists(segments | st.integers(-2, 2), min_size=1, max_size=3)
bad_paths = st.sampled_from(["", ".", "a.", "a..b", [], ["a", None], ["a", 1.5], ["a", ["b"]], 3, None])
filter_keys = st.sampled_from(
    ["eq:a", "eq:label", "a:eq", "eq:a.b", "matches:a", "a:matches", "eq:eq", "matches:eq", "eq:0"]
)
patterns = st.sampled_from(["a", "^a", "b$", "[ab]+", "", "x", "(", "[a"])


def expressions(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    compiled = st.builds(lambda first, rest: [first, *rest], st.lists(names, max_size=2) | inner,
                         st.lists(segments, max_size=2))
    froms = st.fixed_dictionaries(
        {"$from": st.one_of(text_paths, list_paths, list_paths, compiled, bad_paths)},
        optional={
            "$default": inner,
            "$eq": inner,
            "$ne": inner,
            "$filter": st.dictionaries(filter_keys, inner | patterns, max_size=2)
            | st.sampled_from([{"a": 1}, [], {"eq:": 1}, None]),
        },
    )
    coalesces = st.fixed_dictionaries(
        {"$coalesce": st.lists(inner, max_size=3) | st.just(7)}, optional={"$default": inner}
    )
    values = st.fixed_dictionaries(
        {"$value": data}, optional={"x": scalars, "$default": scalars, "$coalesce": scalars}
    )
    odd = st.sampled_from([{"$eq": 1}, {"$form": "a"}, {"$from": "a", "x": 1}, {"$": 1}])
    return st.one_of(froms, froms, froms, coalesces, values, odd)


values = st.recursive(
    scalars | st.builds(lambda path: {"$from": path}, text_paths | list_paths),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3), expressions(inner)
    ),
    max_leaves=10,
)


def asked(db: Connection, value: Any, scope: Any) -> tuple[str, Any]:
    row = db.execute(
        "select r.value, r.error from qwf._resolve(%s, %s) r", [Jsonb(value), Jsonb(scope)]
    ).fetchone()
    assert row is not None
    found, error = row
    return ("value", found) if error is None else (error.split()[0].rstrip(":"), None)


def expected(value: Any, scope: Any) -> tuple[str, Any]:
    try:
        return "value", model.resolve(value, scope)
    except model.ReferenceFault as fault:
        return fault.kind, None


@MANY
@given(value=values, scope=scopes)
def test_resolve_agrees_with_the_model(db: Connection, value: Any, scope: Any) -> None:
    kind, found = asked(db, value, scope)
    wanted_kind, wanted = expected(value, scope)
    assert kind == wanted_kind
    assert model.equal(found, wanted)


@MANY
@given(inputs=st.dictionaries(names, values, max_size=4), scope=scopes)
def test_the_inputs_of_a_node_resolve_as_the_model_says(
    db: Connection, inputs: Any, scope: Any
) -> None:
    kind, found = asked(db, inputs, scope)
    wanted_kind, wanted = expected(inputs, scope)
    assert kind == wanted_kind
    assert model.equal(found, wanted)


@MANY
@given(value=data)
def test_what_a_reference_finds_is_data(db: Connection, value: Any) -> None:
    assert asked(db, {"x": {"$from": "a"}}, {"a": value}) == ("value", {"x": value})
    assert asked(db, {"x": {"$value": value}}, {}) == ("value", {"x": value})


@MANY
@given(value=st.dictionaries(names, values, max_size=3))
def test_registration_refuses_what_is_malformed(db: Connection, value: Any) -> None:
    """What registration lets pass is never malformed at run time, whatever it finds there."""
    problems = db.execute(
        "select * from qwf._expression_problems(%s, 'inputs')", [Jsonb(value)]
    ).fetchall()
    if not problems:
        for scope in ({}, {"a": {"b": 1}, "b": [1, {"a": "x"}]}):
            assert asked(db, value, scope)[0] != "malformed"


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [(1, Decimal("1.0"), True), (1, True, False), (1, "1", False), (None, None, True), ([], {}, False)],
)
def test_equality_is_that_of_json(db: Connection, left: Any, right: Any, same: bool) -> None:
    dumps = {"dumps": lambda v: str(v) if isinstance(v, Decimal) else __import__("json").dumps(v)}
    row = db.execute(
        "select qwf.resolve(jsonb_build_object('$from', 'a', '$eq', %s::jsonb),"
        " jsonb_build_object('a', %s::jsonb))",
        [Jsonb(right, **dumps), Jsonb(left)],
    ).fetchone()
    assert row == (same,)
